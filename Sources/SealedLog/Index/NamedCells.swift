import LinuxSystem

/// Encoded items that begin with a name, in the order in which they were added, and which item of a name is the newest.
///
/// They lie in one buffer: a transaction may have a million of them, which would take several times the memory as
/// objects.
struct NamedCells: Sendable {
    private var writer = ByteWriter()
    /// Where the items begin.
    private var starts: [Int] = []
    /// A hash table with open addressing: the newest item of each name, counted from 1. 0 is free.
    private var slots: [Int32] = []
    /// How many names there are.
    private(set) var nameCount = 0

    var count: Int { starts.count }
    /// The size of all items.
    var byteCount: Int { writer.count }

    /// Adds an item.
    ///
    /// - Parameter write: writes the name first.
    mutating func append(_ write: (inout ByteWriter) -> Void) {
        starts.append(writer.count)
        write(&writer)
        // At most half of the slots are taken.
        if count * 2 > slots.count { rebuild(count * 4) } else { enter(count - 1) }
    }

    /// Removes the items from a number on.
    mutating func removeItems(from count: Int) {
        guard count < self.count else { return }
        writer.removeBytes(from: starts[count])
        starts.removeSubrange(count...)
        rebuild(slots.count)
    }

    /// Returns the newest item of a name.
    func newest(_ name: UnsafeRawBufferPointer) -> Int? {
        guard count > 0 else { return nil }
        let item = Int(slots[slot(of: name)])
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

    private mutating func rebuild(_ size: Int) {
        var capacity = 8
        while capacity < size { capacity *= 2 }
        slots = [Int32](repeating: 0, count: capacity)
        nameCount = 0
        for item in 0..<count { enter(item) }
    }

    private mutating func enter(_ item: Int) {
        let slot = withName(item, slot)
        if slots[slot] == 0 { nameCount += 1 }
        slots[slot] = Int32(item + 1)
    }

    /// Returns the slot that a name has, or would have.
    private func slot(of name: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        let mask = slots.count - 1
        var slot = hasher.finalize() & mask
        while slots[slot] != 0, withName(Int(slots[slot]) - 1, { $0.order(to: name) != 0 }) { slot = (slot + 1) & mask }
        return slot
    }

    @inline(__always)
    private func withName<Result>(_ item: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        writer.bytes.withUnsafeBytes { bytes in
            var start = starts[item]
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
