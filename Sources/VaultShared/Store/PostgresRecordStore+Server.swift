import LinuxSystem
import SealedLog

// Compares the end of the log, as it was read, with the end recorded in the vault's row.

extension PostgresRecordStore: StoreServer {
    var name: String? { location.pool.lastHost?.name }
    var isStandby: Bool { location.pool.lastHost?.isStandby ?? false }
    var time: UInt64? { location.serverClock.time }
    var hostCount: Int { location.pool.hostCount }
    func turnToNextHost() { location.pool.turnToNextHost() }

    var statedEnd: StatedEnd? { state.withLock { $0.statedEnd } }

    func ignoreStatedEnd() throws(LogError) {
        guard state.withLock({ !$0.isKept }) else { return }
        // A process that holds the lock uses its transaction's connection, since it must not wait for another one.
        let answer = try location.translated { () throws(PostgresError) in
            try state.withLock { $0.transaction?.connection }?
                .flight([.end(generation)], until: Deadline(after: location.timeout)).rows
        }
        let rows = if let answer { answer[0] } else { try location.flight([.end(generation)])[0] }
        let end = try location.translated { () throws(PostgresError) in rows.count > 0 ? try rows.number(0, 0) : 0 }
        state.withLock { $0.sizeFound = end }
    }
}

extension PostgresRecordStore {
    func examine(_ tail: LogTail) throws(LogError) -> TailState {
        switch tail.remains {
        case .failing(let reason), .foreign(let reason): throw LogError.damaged("\(reason),", at: tail.end)
        case .nothing: break
        }
        guard try size() <= tail.end else { throw LogError.damaged("the log's end", at: tail.end) }
        try compareStatedEnd(with: tail)
        return TailState(needsClearing: false, isDurable: true)
    }

    /// Compares the end of the log that was read with the end recorded in the vault's row. They must be equal, because
    /// the next record will be appended at the recorded end.
    private func compareStatedEnd(with tail: LogTail) throws(LogError) {
        guard let stated = statedEnd else { return }
        guard stated.position == tail.head, stated.offset == tail.end else {
            let isAnother = stated.position.sequence == tail.head.sequence && stated.offset == tail.end
            throw LogError.damaged(
                "the store reports that the log ends with \(isAnother ? "a different " : "")change "
                    + "\(stated.position.sequence) at byte \(stated.offset), but it ends with change "
                    + "\(tail.head.sequence) at byte \(tail.end)")
        }
        guard !stated.hasMore else { throw LogError.damaged("unexpected bytes after the log's end", at: tail.end) }
    }

    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth {
        var growth = try growthOnThisHost(after: end, head)
        // A former primary that restarts after a failover lacks the newest records, so the other hosts are tried too.
        for _ in 1..<max(1, location.pool.hostCount) {
            guard case .doubtful = growth, state.withLock({ $0.isOlder(than: head) }) else { return growth }
            location.pool.turnToNextHost()
            growth = try growthOnThisHost(after: end, head)
        }
        return growth
    }

    private func growthOnThisHost(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth {
        // The request is repeated if another thread updates the known row, since the answer may then be outdated.
        for _ in 0..<100 {
            let (before, isLocked) = state.withLock { ($0.head, $0.isLocked) }
            if isLocked || state.withLock({ $0.takeNew() }) && location.isShortLived { break }
            guard let found = try query(after: end, knowing: before) else { break }
            let isTaken = state.withLock { state in
                guard !state.isLocked, state.head == before else { return false }
                state.update(found.head, found.newBytes, of: generation)
                return true
            }
            guard isTaken else { continue }
            // After a server has been restored from a backup, the local copy may be needed to repair it. New bytes are
            // saved to the copy only once the log has been opened from this store and has accepted its contents.
            let (growth, known, isOpen) = state.withLock { state in
                (state.growth(after: end, head, of: generation), state.head, state.isOpen)
            }
            switch growth {
            case .none: if isOpen { mirror(as: known) }
            case .doubtful: break
            case .some: state.withLock { $0.wait(toFollow: found.newBytes, with: found.head) }
            }
            break
        }
        return state.withLock { $0.growth(after: end, head, of: generation) }
    }

    private typealias Answer = (head: StoreHead, newBytes: StoreBytes)

    /// Requests the vault's row and the bytes after an offset; returns nil if reads use the local copy instead.
    private func query(after end: UInt64, knowing known: StoreHead) throws(LogError) -> Answer? {
        if try !location.isOffline() {
            do throws(LogError) {
                let found = try request(after: end, knowing: known)
                location.notePresence()
                return found
            } catch {
                guard location.noteFailure(error) else { throw error }
            }
        }
        location.noteStandIn()
        return nil
    }

    private func request(after end: UInt64, knowing known: StoreHead) throws(LogError) -> Answer {
        // With a local server, only the row is requested first: a rare second trip costs less than reading bytes.
        if location.pool.isLocal, try location.currentHead() == known {
            return (known, StoreBytes(offset: end))
        }
        let rows = try location.flight([
            .head(of: location.name), .extents(generation, from: end, upTo: PostgresLocation.tailSize),
        ])
        let (found, bytes) = try location.translated { () throws(PostgresError) in
            (try StoreHead(rows[0]), try StoreBytes(rows[1], from: end))
        }
        location.serverClock.note(rows[0], Statement.clockColumn)
        guard let found else { throw location.absence }
        return (found, bytes)
    }
}
