/// Iterates over the newest entry of each name, in the order of names.
struct EntryMerge {
    /// A source of entries in the order of their names.
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

    /// - Parameters:
    ///   - recent: newer ones first, all newer than the trees.
    ///   - trees: newer ones first, with cursors that begin at `start`.
    ///   - start: entries before this name are skipped.
    init(recent: [RecentEntries], trees: [TreeCursor], from start: [UInt8] = []) {
        sources = recent.map { recent in
            .recent(recent, position: start.withUnsafeBytes { recent.position(of: $0).index })
        }
        sources += trees.map { .tree($0) }
    }

    mutating func next() throws(LogError) -> Entry? {
        if heads.isEmpty {
            for index in sources.indices { heads.append(try sources[index].next()) }
        }
        var first: Entry?
        for head in heads {
            guard let head else { continue }
            if first.map({ head.name < $0.name }) ?? true { first = head }
        }
        guard let first else { return nil }
        for index in sources.indices where heads[index]?.name == first.name {
            heads[index] = try sources[index].next()
        }
        return first
    }
}

/// Iterates over the present entries whose names begin with a prefix, as they were when it was created.
///
/// Each entry is read on request and without a lock, so a list of any length takes the memory of a few pages. A copy
/// continues where the original was.
package struct EntryListing: Sendable {
    private var merge: EntryMerge
    private let prefix: [UInt8]

    /// - Parameter entries: those from the prefix on.
    init(_ entries: EntryMerge, prefix: [UInt8]) {
        merge = entries
        self.prefix = prefix
    }

    /// Returns the next entry; nil at the end.
    ///
    /// - Throws: `damaged`, `unavailable`.
    package mutating func next() throws(LogError) -> Entry? {
        while let entry = try merge.next(), entry.name.bytes.starts(with: prefix) {
            if !entry.isRemoved { return entry }
        }
        return nil
    }
}
