/// Goes through the newest entry of each name, in the order of names.
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

    /// The newer ones first: where two have a name, the first one's entry holds.
    private var sources: [Source]
    private var heads: [Entry?] = []

    /// - Parameters:
    ///   - overlays: the newer ones first; all newer than the trees.
    ///   - start: entries before this name are passed over; the trees' cursors begin there too.
    init(overlays: [RecentEntries], trees: [TreeCursor], from start: [UInt8] = []) {
        sources = overlays.map { recent in
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
