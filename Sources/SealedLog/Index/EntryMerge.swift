import LinuxSystem

/// What is read of an entry: all of it, or only what a list of names needs.
protocol MergedItem: Sendable {
    /// Compares the names: a negative number, 0 or a positive number.
    func order(to other: Self) -> Int
    /// Reads a leaf's cell.
    init(in page: Page, at index: Int) throws(LogError)
    /// Reads what this process has encoded.
    init(ownFrom reader: inout ByteReader) throws(Malformed)
    /// Returns the same with a distance added to its offsets.
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

/// Iterates over the newest entry of each name, in the order of names.
struct Merge<Item: MergedItem>: Sendable {
    // Newer sources first. If several have an entry of a name, the first one's counts.
    private var recent: [RecentCursor]
    private var trees: [TreeCursor]
    /// The next item of each source that has one, in the order of the sources.
    private var heads: [(source: Int, item: Item)] = []
    private var isBegun = false

    /// Merges what is recent, newer ones first, with the older trees, newer ones first.
    init(recent: [RecentCursor], trees: [TreeCursor]) { (self.recent, self.trees) = (recent, trees) }

    mutating func next() throws(LogError) -> Item? {
        if !isBegun {
            for source in 0..<recent.count + trees.count {
                if let item = try advance(source) { heads.append((source, item)) }
            }
            isBegun = true
        }
        var (chosen, position) = (0, 1)
        while position < heads.count {
            let order = heads[chosen].item.order(to: heads[position].item)
            if order > 0 { chosen = position }
            // The older one of two of that name is passed over.
            if order == 0, try !takeHead(position).isFollowed { continue }
            position += 1
        }
        return heads.isEmpty ? nil : try takeHead(chosen).item
    }

    /// Returns the item of a source, which the next one replaces, and whether there is one.
    private mutating func takeHead(_ position: Int) throws(LogError) -> (item: Item, isFollowed: Bool) {
        guard let next = try advance(heads[position].source) else { return (heads.remove(at: position).item, false) }
        return (exchange(&heads[position].item, with: next), true)
    }

    private mutating func advance(_ source: Int) throws(LogError) -> Item? {
        source < recent.count ? recent[source].next() : try trees[source - recent.count].nextItem()
    }
}

/// Iterates over the present entries whose names begin with a prefix, as they were when it was created. It reads each
/// on request and without a lock: a list of any length takes the memory of a few pages. A copy continues independently.
package struct EntryListing: Sendable {
    /// Begins at the prefix.
    var merge: EntryMerge
    let prefix: [UInt8]
    private let now = Clock.milliseconds

    /// Returns the next entry; nil at the end. Throws `damaged`, `unavailable`.
    package mutating func next() throws(LogError) -> Entry? {
        while let entry = try merge.next(), entry.name.bytes.starts(with: prefix) {
            if entry.isPresent(at: now) { return entry }
        }
        return nil
    }
}

/// Does the same for names alone, which takes a fraction of the time.
package struct NameListing: Sendable {
    var merge: Merge<ListedName>
    let prefix: [UInt8]
    private let now = Clock.milliseconds

    /// Returns the next name; nil at the end. Throws `damaged`, `unavailable`.
    package mutating func next() throws(LogError) -> String? {
        while let listed = try merge.next(), listed.name.utf8.starts(with: prefix) {
            if listed.end.map({ now < $0 }) ?? true { return listed.name }
        }
        return nil
    }
}

extension ListedName: MergedItem {
    func order(to other: ListedName) -> Int {
        let (name, otherName) = (name.utf8.span.bytes, other.name.utf8.span.bytes)
        return name.withUnsafeBytes { name in otherName.withUnsafeBytes { name.order(to: $0) } }
    }

    init(in page: Page, at index: Int) throws(LogError) { self = try page.listedName(index) }
    init(ownFrom reader: inout ByteReader) throws(Malformed) { self = try reader.listedName() }
    consuming func moved(by distance: UInt64) -> ListedName { self }
}
