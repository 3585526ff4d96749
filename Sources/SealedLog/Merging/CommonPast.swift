/// The history that two copies of a vault share. Each copy had every state in it, but may have replaced some of them.
struct CommonPast {
    /// For each copy, the sequence number of its newest record that the other contains or has merged; nil if unknown.
    private let own: UInt64?
    private let other: UInt64?

    init(_ own: KnownHistory, _ other: KnownHistory) {
        self.own = CommonPast.newest(of: own, in: other)
        self.other = CommonPast.newest(of: other, in: own)
    }

    private static func newest(of history: KnownHistory, in other: KnownHistory) -> UInt64? {
        let known = Set(other.positions.positions)
        return history.line.last(where: known.contains)?.sequence
    }

    func hasOwnChanged(_ entry: Entry) -> Bool? { own.map { entry.sequence > $0 } }
    func hasOtherChanged(_ entry: Entry) -> Bool? { other.map { entry.sequence > $0 } }
}

extension LogView {
    /// Returns whether the remembered heads, if kept, include this view's head or an earlier position in its history.
    func isKnown(to memory: RollbackMemory) throws(LogError) -> Bool {
        let heads = try memory.heads { () throws(LogError) in try manifest().formerMemoryKeys }
        if heads.isEmpty || heads.contains(head) { return !heads.isEmpty }
        let history = try KnownHistory(of: self)
        return !Set(heads).isDisjoint(with: history.positions.positions)
    }
}

/// The known log positions of a vault's history.
struct KnownHistory {
    private(set) var positions: KnownPositions
    /// The sequence number of the first position in this copy's own chain. Earlier positions come from merges.
    private let lineStart: UInt64

    /// Reads and authenticates all records.
    init(of view: LogView) throws(LogError) {
        let manifest = try view.manifest()
        positions = manifest.positions(before: view.origin)
        lineStart = view.origin.sequence - UInt64(manifest.chain.count)
        newest = view.head
        positions.append(view.origin)
        try view.forEachRecord(nil) { positions.append($0.position) }
    }

    func includes(_ position: LogPosition) -> Inclusion {
        if positions.positions.contains(position) { return .included }
        return position.sequence >= positions.first ? .excluded : .unknown
    }

    let newest: LogPosition

    fileprivate var line: some BidirectionalCollection<LogPosition> {
        positions.positions.drop { $0.sequence < lineStart }
    }
}
