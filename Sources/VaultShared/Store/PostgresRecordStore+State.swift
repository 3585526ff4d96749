import SealedLog

extension PostgresRecordStore.State {
    /// Takes over what the database says now.
    ///
    /// - Parameter newBytes: from the end of a log on.
    mutating func learn(_ found: StoreHead, _ newBytes: StoreBytes, of generation: UInt64) {
        if found.generation == generation {
            isAsKept = false
            if found.size > head.size || tail.end != found.size { tail = newBytes }
        }
        head = found
    }

    /// Whether nobody else can write, so that nothing need be asked.
    var isLocked: Bool { transaction.map { !$0.isCommitting } ?? false }

    func isOlder(than position: LogPosition) -> Bool {
        !isLocked && head.position.sequence < position.sequence
    }

    func growth(after end: UInt64, _ position: LogPosition, of generation: UInt64) -> StoreGrowth {
        guard head.generation == generation else { return .doubtful }
        if head.size == end, head.position == position { return .none }
        return head.size > end && head.position.sequence > position.sequence ? .some : .doubtful
    }
}
