import LinuxSystem

/// Iterates over the newest entry of each name, in the order of names.
struct EntryMerge {
    private enum Source {
        case recent(RecentEntries, position: Int)
        case tree(TreeCursor)

        mutating func next() throws(LogError) -> Entry? {
            switch self {
            case .recent(let recent, let position):
                guard position < recent.count else { return nil }
                self = .recent(recent, position: position + 1)
                return recent[position]
            case .tree(var cursor):
                defer { self = .tree(cursor) }
                return try cursor.next()
            }
        }
    }

    /// Newer sources first. If several have an entry of a name, the first one's counts.
    private var sources: [Source]
    private var heads: [Entry?] = []

    /// Merges what is recent, newer ones first, with the older trees, newer ones first. Entries before `start` are
    /// skipped, by the trees' cursors already.
    init(recent: [RecentEntries], trees: [TreeCursor], from start: [UInt8] = []) {
        let recent = recent.map { ($0, position: start.withUnsafeBytes($0.position).index) }
        sources = recent.map(Source.recent) + trees.map(Source.tree)
    }

    mutating func next() throws(LogError) -> Entry? {
        if heads.isEmpty {
            for index in sources.indices { heads.append(try sources[index].next()) }
        }
        guard let first = heads.lazy.compactMap({ $0 }).min(by: { $0.name < $1.name }) else { return nil }
        for index in sources.indices where heads[index]?.name == first.name { heads[index] = try sources[index].next() }
        return first
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
