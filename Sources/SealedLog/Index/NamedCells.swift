import LinuxSystem

/// Encoded items that begin with a name, in the order in which they were added, and which item of a name is the newest.
///
/// They lie in one buffer: a transaction may have a million of them, which would take several times the memory as
/// objects.
struct NamedCells: Sendable {
    private struct Slot {
        /// Counted from 1; 0 is free.
        var item: Int32 = 0
        /// Of its name: so few names are read to find one, and none to make the table larger.
        var hash: UInt32 = 0
    }

    private var writer = ByteWriter()
    /// Where the items begin.
    private var starts: [Int] = []
    /// A hash table with open addressing: the newest item of each name.
    private var slots: [Slot] = []
    /// How many names there are.
    private(set) var nameCount = 0

    var count: Int { starts.count }
    /// The size of all items.
    var byteCount: Int { writer.count }

    /// Makes room for as many items as another list has, each 16 bytes longer: an entry has the times that its change
    /// has not.
    mutating func reserve(as other: NamedCells) {
        writer.reserve(other.byteCount + other.count * 16)
        starts.reserveCapacity(other.count)
        slots = [Slot](repeating: Slot(), count: other.slots.count)
    }

    /// Adds an item.
    ///
    /// - Parameter write: writes the name first.
    mutating func append(_ write: (inout ByteWriter) -> Void) {
        starts.append(writer.count)
        write(&writer)
        // At most half of the slots are taken.
        if count * 2 > slots.count { grow() }
        enter(count - 1)
    }

    /// Removes the items from a number on.
    mutating func removeItems(from count: Int) {
        guard count < self.count else { return }
        writer.removeBytes(from: starts[count])
        starts.removeSubrange(count...)
        for slot in slots.indices { slots[slot] = Slot() }
        nameCount = 0
        for item in 0..<count { enter(item) }
    }

    /// Returns the newest item of a name.
    func newest(_ name: UnsafeRawBufferPointer) -> Int? {
        guard count > 0 else { return nil }
        let item = Int(slots[slot(of: name, NamedCells.hash(name))].item)
        return item == 0 ? nil : item - 1
    }

    /// Reads an item from its name on.
    func reader(_ item: Int) -> ByteReader {
        ByteReader(writer.bytes, in: starts[item]..<(item + 1 == count ? writer.count : starts[item + 1]))
    }

    /// Returns the newest item of each name that is not before `start`, in the order of names.
    func ordered(from start: [UInt8] = []) -> [Int32] {
        var items: [Int32] = []
        items.reserveCapacity(nameCount)
        for item in 0..<count {
            let isListed = withName(item) { name in
                start.withUnsafeBytes { $0.order(to: name) <= 0 } && (nameCount == count || newest(name) == item)
            }
            if isListed { items.append(Int32(item)) }
        }
        items.sort { left, right in
            withName(Int(left)) { left in withName(Int(right)) { left.order(to: $0) < 0 } }
        }
        return items
    }

    // MARK: The table

    /// Doubles the slots.
    private mutating func grow() {
        let old = exchange(&slots, with: [])
        slots = [Slot](repeating: Slot(), count: max(8, old.count * 2))
        for taken in old where taken.item != 0 { slots[slot(for: taken.hash) { _ in false }] = taken }
    }

    private mutating func enter(_ item: Int) {
        let (slot, hash) = slot(of: item)
        if slots[slot].item == 0 { nameCount += 1 }
        slots[slot] = Slot(item: Int32(item + 1), hash: hash)
    }

    private func slot(of item: Int) -> (slot: Int, hash: UInt32) {
        withName(item) { name in
            let hash = NamedCells.hash(name)
            return (self.slot(of: name, hash), hash)
        }
    }

    private static func hash(_ name: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// Returns the slot that a name has, or would have.
    private func slot(of name: UnsafeRawBufferPointer, _ hash: UInt32) -> Int {
        slot(for: hash) { $0.hash == hash && withName(Int($0.item) - 1) { $0.order(to: name) == 0 } }
    }

    /// Returns the first slot for a hash that is free, or that `isFound` takes.
    @inline(__always)
    private func slot(for hash: UInt32, _ isFound: (Slot) -> Bool) -> Int {
        let slots = slots.span
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot].item != 0, !isFound(slots[slot]) { slot = (slot + 1) & mask }
        return slot
    }

    /// Through spans: an array would be retained and released.
    @inline(__always)
    private func withName<Result>(_ item: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        writer.bytes.span.bytes.withUnsafeBytes { bytes in
            var start = starts.span[item]
            let length = Int((try? bytes.varint(at: &start)) ?? 0)
            return body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
        }
    }
}

extension ByteReader {
    /// Reads what this process has encoded itself.
    mutating func own<Result>(_ read: (inout ByteReader) throws(Malformed) -> Result) -> Result {
        do { return try read(&self) } catch { preconditionFailure("this process cannot read what it wrote") }
    }
}
