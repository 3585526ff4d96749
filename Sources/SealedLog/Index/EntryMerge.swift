import LinuxSystem

/// The form in which a merge reads entries: either whole, or only the fields that a list of names needs.
protocol MergedItem: Sendable {
    /// Compares the names of two items. Returns a negative number, 0 or a positive number.
    func order(to other: Self) -> Int
    /// Reads an item from a leaf's cell.
    init(in page: Page, at index: Int) throws(LogError)
    /// Reads an item that this process has encoded.
    init(ownFrom reader: inout ByteReader) throws(Malformed)
    /// Returns the item with `distance` added to the file offsets in it.
    consuming func moved(by distance: UInt64) -> Self
}

extension Entry: MergedItem {
    func order(to other: Entry) -> Int {
        name.bytes.withUnsafeBytes { name in other.name.bytes.withUnsafeBytes { name.order(to: $0) } }
    }

    init(in page: Page, at index: Int) throws(LogError) { self = try page.entry(index) }
    init(ownFrom reader: inout ByteReader) throws(Malformed) { self = try reader.entry(isOwn: true) }
}

typealias EntryMerge = Merge<Entry>

/// An iterator over the newest entry for each name, sorted by name.
struct Merge<Item: MergedItem>: Sendable {
    // The sources are sorted, newest first. If several sources have an entry for a name, the newest source's is used.
    private var recent: [RecentCursor]
    private var trees: [TreeCursor]
    /// The next item of each source that is not exhausted, in the order of the sources.
    private var heads: [(source: Int, item: Item)] = []
    private var isBegun = false

    /// Creates an iterator that merges lists of recent entries with older trees. Each array is sorted newest first.
    init(recent: [RecentCursor], trees: [TreeCursor]) {
        self.recent = recent
        self.trees = trees
    }

    mutating func next() throws(LogError) -> Item? {
        if !isBegun {
            for source in 0..<recent.count + trees.count {
                if let item = try advance(source) { heads.append((source, item)) }
            }
            isBegun = true
        }
        var chosen = 0
        var position = 1
        while position < heads.count {
            let order = heads[chosen].item.order(to: heads[position].item)
            if order > 0 { chosen = position }
            // If two items have the same name, the older one is skipped.
            if order == 0, try !takeHead(position).isFollowed { continue }
            position += 1
        }
        return heads.isEmpty ? nil : try takeHead(chosen).item
    }

    /// Returns the item at `position` in ``heads``, and whether another follows. Advances its source, or removes it.
    private mutating func takeHead(_ position: Int) throws(LogError) -> (item: Item, isFollowed: Bool) {
        guard let next = try advance(heads[position].source) else { return (heads.remove(at: position).item, false) }
        return (exchange(&heads[position].item, with: next), true)
    }

    private mutating func advance(_ source: Int) throws(LogError) -> Item? {
        source < recent.count ? recent[source].next() : try trees[source - recent.count].nextItem()
    }
}

/// An iterator over the entries that were present at its creation and whose names have a prefix. It reads each entry on
/// demand, without a lock, so a listing of any length needs memory for only a few pages. A copy advances independently.
package struct EntryListing: Sendable {
    var merge: EntryMerge
    let prefix: [UInt8]
    private let now = Clock.milliseconds

    /// Returns the next entry; nil at the end. Throws `damaged` or `unavailable`.
    package mutating func next() throws(LogError) -> Entry? {
        while let entry = try merge.next(), entry.name.bytes.starts(with: prefix) {
            if entry.isPresent(at: now) { return entry }
        }
        return nil
    }
}

/// An iterator over names only. It is much faster than an ``EntryListing``.
package struct NameListing: Sendable {
    var merge: Merge<ListedName>
    let prefix: [UInt8]
    private let now = Clock.milliseconds

    /// Returns the next name; nil at the end. Throws `damaged` or `unavailable`.
    package mutating func next() throws(LogError) -> String? {
        while let listed = try merge.next(), listed.name.utf8.starts(with: prefix) {
            if listed.end.map({ now < $0 }) ?? true { return listed.name }
        }
        return nil
    }
}

extension ListedName: MergedItem {
    func order(to other: ListedName) -> Int {
        let name = name.utf8.span.bytes
        let otherName = other.name.utf8.span.bytes
        return name.withUnsafeBytes { name in otherName.withUnsafeBytes { name.order(to: $0) } }
    }

    init(in page: Page, at index: Int) throws(LogError) { self = try page.listedName(index) }
    init(ownFrom reader: inout ByteReader) throws(Malformed) { self = try reader.listedName() }
    consuming func moved(by distance: UInt64) -> ListedName { self }
}
