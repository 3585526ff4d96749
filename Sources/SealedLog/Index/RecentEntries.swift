import LinuxSystem

/// The entries that are not in a tree yet, searchable by name. They come from the records after the newest tree, or
/// from a record that is being planned.
struct RecentEntries: Sendable {
    private var cells = NamedCells()

    var count: Int { cells.nameCount }
    /// The number of inserted entries, including those that later entries have replaced.
    var insertedCount: Int { cells.count }
    /// The encoded size of all inserted entries.
    var byteCount: Int { cells.byteCount }

    mutating func reserve(as changes: NamedCells) { cells.reserve(as: changes) }

    mutating func insert(_ entry: Entry) { cells.append { $0.entry(entry) } }

    mutating func removeInserted(from count: Int) { cells.removeItems(from: count) }

    func inserted(_ number: Int) -> Entry {
        var reader = cells.reader(number)
        return reader.own { (reader) throws(Malformed) in try reader.entry(isOwn: true) }
    }

    /// For each name, the index of its newest entry. The list is sorted by name.
    var newest: [Int32] { cells.ordered() }

    /// Returns the index of a name's newest entry; nil if the name has no entry here.
    func number(of name: EntryName) -> Int? { name.bytes.withUnsafeBytes(cells.newest) }

    func find(_ name: EntryName) -> Entry? { number(of: name).map(inserted) }

    /// Returns whether these entries include the name, and its current version unless removed or expired at `now`.
    func findVersion(
        _ name: UnsafeRawBufferPointer, at now: @autoclosure () -> UInt64
    ) -> (isFound: Bool, version: StoredVersion?) {
        guard let number = cells.newest(name) else { return (false, nil) }
        var reader = cells.reader(number)
        return (true, reader.own { (reader) throws(Malformed) in try reader.currentVersion(at: now()) })
    }

    /// Returns an iterator over the newest entry of each name.
    ///
    /// - Parameters:
    ///   - start: the name at or after which the iteration begins.
    ///   - distance: the number of bytes to add to offsets that are relative to the start of a new record's payload.
    func cursor(from start: [UInt8] = [], movedBy distance: UInt64 = 0) -> RecentCursor {
        RecentCursor(cells: cells, order: cells.ordered(from: start), distance: distance)
    }
}

struct RecentCursor: Sendable {
    fileprivate let cells: NamedCells
    fileprivate let order: [Int32]
    fileprivate let distance: UInt64
    fileprivate var position = 0

    mutating func next<Item: MergedItem>() -> Item? {
        guard position < order.count else { return nil }
        var reader = cells.reader(Int(order[position]))
        position += 1
        return reader.own { (reader) throws(Malformed) in try Item(ownFrom: &reader) }.moved(by: distance)
    }
}
