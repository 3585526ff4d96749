import LinuxSystem

/// Encoded items, each beginning with a name, in the order of insertion. An index finds the newest item for a name.
///
/// All items share one buffer. A million items as separate objects would take several times as much memory.
package struct NamedCells: Sendable {
    private struct Slot {
        /// The index of the newest item for a name, plus 1; 0 marks a free slot.
        var item: Int32 = 0
        /// The hash of the name. With it, a search compares few names, and growing the table compares none.
        var hash: UInt32 = 0
    }

    private var writer = ByteWriter()
    private var starts: [Int] = []
    /// A hash table with open addressing. It contains the newest item for each name.
    private var slots: [Slot] = []
    package private(set) var nameCount = 0

    package init() {}

    package var count: Int { starts.count }
    package var byteCount: Int { writer.count }

    /// Reserves room for one entry per change in `other`. An entry also stores times, which take 16 bytes.
    package mutating func reserve(as other: NamedCells) {
        writer.reserve(other.byteCount + other.count * 16)
        starts.reserveCapacity(other.count)
        slots = [Slot](repeating: Slot(), count: other.slots.count)
    }

    /// Appends the item that `write` encodes. The item must begin with its name.
    package mutating func append(_ write: (inout ByteWriter) -> Void) {
        starts.append(writer.count)
        write(&writer)
        // The table grows before more than half of its slots are used.
        if count * 2 > slots.count { grow() }
        enter(count - 1)
    }

    package mutating func removeItems(from count: Int) {
        guard count < self.count else { return }
        writer.removeBytes(from: starts[count])
        starts.removeSubrange(count...)
        for slot in slots.indices { slots[slot] = Slot() }
        nameCount = 0
        for item in 0..<count { enter(item) }
    }

    package func newest(_ name: UnsafeRawBufferPointer) -> Int? {
        guard count > 0 else { return nil }
        let item = Int(slots[slot(of: name, NamedCells.hash(name))].item)
        return item == 0 ? nil : item - 1
    }

    /// Returns a reader at the start of an item. The item begins with its name.
    package func reader(_ item: Int) -> ByteReader {
        ByteReader(writer.bytes, in: starts[item]..<(item + 1 == count ? writer.count : starts[item + 1]))
    }

    /// Returns the indices of the newest items, one for each name from `start` on, sorted by name.
    package func ordered(from start: [UInt8] = []) -> [Int32] {
        var items: [Int32] = []
        items.reserveCapacity(nameCount)
        for item in 0..<count {
            let isListed = withName(item) { name in
                start.withUnsafeBytes { $0.order(to: name) <= 0 } && (nameCount == count || newest(name) == item)
            }
            if isListed { items.append(Int32(item)) }
        }
        items.sort { left, right in withName(Int(left)) { left in withName(Int(right)) { left.order(to: $0) < 0 } } }
        return items
    }

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

    /// Returns the slot of a name, or the free slot where the name would be inserted.
    private func slot(of name: UnsafeRawBufferPointer, _ hash: UInt32) -> Int {
        slot(for: hash) { $0.hash == hash && withName(Int($0.item) - 1) { $0.order(to: name) == 0 } }
    }

    /// Searches the slots from the one that `hash` selects. Returns the first that is free or satisfies `isFound`.
    @inline(__always)
    private func slot(for hash: UInt32, _ isFound: (Slot) -> Bool) -> Int {
        let slots = slots.span
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot].item != 0, !isFound(slots[slot]) { slot = (slot + 1) & mask }
        return slot
    }

    /// Passes an item's name to `body`. Uses spans, because access through an array would retain and release the array.
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
    /// Reads an item that this process has encoded. An invalid item is a programming error, and ends the process.
    package mutating func own<Result>(_ read: (inout ByteReader) throws(Malformed) -> Result) -> Result {
        do { return try read(&self) } catch { preconditionFailure("an item that this process encoded is invalid") }
    }
}
