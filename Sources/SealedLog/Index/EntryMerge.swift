import LinuxSystem

/// What is read of an entry: all of it, or only what a list of names needs.
protocol MergedItem: Sendable {
    var name: EntryName { get }

    init(_ entry: Entry)
    /// Reads a leaf's cell.
    init(in page: Page, at index: Int) throws(LogError)
}

extension Entry: MergedItem {
    init(_ entry: Entry) { self = entry }
    init(in page: Page, at index: Int) throws(LogError) { self = try page.entry(index) }
}

typealias EntryMerge = Merge<Entry>

/// Iterates over the newest entry of each name, in the order of names.
struct Merge<Item: MergedItem>: Sendable {
    // Newer sources first. If several have an entry of a name, the first one's counts.
    private var recent: [(entries: RecentEntries, position: Int)]
    private var trees: [TreeCursor]
    /// The next item of each source; nil at its end.
    private var heads: [Item?] = []

    /// Merges what is recent, newer ones first, with the older trees, newer ones first. Entries before `start` are
    /// skipped, by the trees' cursors already.
    init(recent: [RecentEntries], trees: [TreeCursor], from start: [UInt8] = []) {
        self.recent = recent.map { ($0, position: start.withUnsafeBytes($0.position).index) }
        self.trees = trees
    }

    mutating func next() throws(LogError) -> Item? {
        if heads.isEmpty {
            for index in 0..<recent.count + trees.count { heads.append(try advance(index)) }
        }
        var chosen: (index: Int, item: Item)?
        for index in heads.indices {
            guard let item = heads[index] else { continue }
            if let first = chosen {
                if first.item.name < item.name { continue }
                // The older one of two of that name.
                if first.item.name == item.name {
                    heads[index] = try advance(index)
                    continue
                }
            }
            chosen = (index, item)
        }
        guard let chosen else { return nil }
        heads[chosen.index] = try advance(chosen.index)
        return chosen.item
    }

    private mutating func advance(_ index: Int) throws(LogError) -> Item? {
        guard index < recent.count else { return try trees[index - recent.count].nextItem() }
        let (entries, position) = recent[index]
        guard position < entries.count else { return nil }
        recent[index].position += 1
        return Item(entries[position])
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
        while let listed = try merge.next(), listed.name.bytes.starts(with: prefix) {
            if listed.end.map({ now < $0 }) ?? true { return listed.name.text }
        }
        return nil
    }
}

extension ListedName: MergedItem {
    init(_ entry: Entry) { self.init(entry.name, end: entry.isRemoved ? 0 : entry.content?.expiry) }
    init(in page: Page, at index: Int) throws(LogError) { self = try page.listedName(index) }
}
