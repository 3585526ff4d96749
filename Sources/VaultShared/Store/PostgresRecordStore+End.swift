import LinuxSystem
import SealedLog

// Where the log ends, by the database and by the copy on this machine, and what becomes of the copy.

extension PostgresRecordStore {
    // On a full disk, nothing takes the place of a copy that is a file already.
    var keptHead: LogPosition? {
        let head = location.mirror?.savedHead?.position
        return location.copyInFile.withLock { $0 == head } ? nil : head
    }

    func keepCopy(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError) {
        try location.keepCopy(upTo: end)
        // It has another history, or is longer: nothing of it counts for this store.
        state.withLock { ($0.isMirrored, $0.continuesCopy) = (false, false) }
    }

    func accepted(over kept: LogPosition?, continuing isContinued: Bool) {
        if let kept { location.mirror?.learnIncluded(kept) }
        // The log was compared with it.
        let head = state.withLock { state in
            (state.isNew, state.isAccepted, state.continuesCopy) = (state.isRead, true, isContinued)
            return state.isRead ? state.head : nil
        }
        if let head { mirror(as: head) }
    }

    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth {
        var growth = try growthOnThisHost(after: end, head)
        // A former primary that was started again is older than the one that took its place.
        for _ in 1..<max(1, location.pool.hostCount) {
            guard case .doubtful = growth, state.withLock({ $0.isOlder(than: head) }) else { return growth }
            location.pool.turnToNextHost()
            growth = try growthOnThisHost(after: end, head)
        }
        return growth
    }

    private func growthOnThisHost(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth {
        // Others' appends meanwhile make what an answer says outdated.
        for _ in 0..<100 {
            let (before, isLocked) = state.withLock { ($0.head, $0.isLocked) }
            if isLocked || state.withLock({ exchange(&$0.isNew, with: false) }) && location.isShortLived { break }
            guard let found = try look(after: end, knowing: before) else { break }
            let isTaken = state.withLock { state in
                guard !state.isLocked, state.head == before else { return false }
                state.learn(found.head, found.newBytes, of: generation)
                return true
            }
            guard isTaken else { continue }
            // Of a server that was put back to another state, the copy is what it can be restored from: what is read
            // counts once the log was opened on it, and has followed it.
            let (growth, known, isAccepted) = state.withLock { state in
                (state.growth(after: end, head, of: generation), state.head, state.isAccepted)
            }
            switch growth {
            case .none: if isAccepted { mirror(as: known) }
            case .doubtful: break
            case .some: state.withLock { $0.wait(toFollow: found.newBytes, with: found.head) }
            }
            break
        }
        return state.withLock { $0.growth(after: end, head, of: generation) }
    }

    func followed(to head: LogPosition, over kept: LogPosition?) {
        if let kept { location.mirror?.learnIncluded(kept) }
        let (followed, isAccepted) = state.withLock { ($0.takeFollowed(to: head), $0.isAccepted) }
        if isAccepted, let followed { mirror(followed.bytes, as: followed.head) }
    }

    /// Keeps what was learnt, on this machine.
    ///
    /// - Parameter head: what the log was compared with: nothing else that the database says of its end is kept.
    func mirror(_ newBytes: [StoreBytes] = [], as head: StoreHead) {
        guard let mirror = location.mirror, head.generation == generation else { return }
        let (pieces, isMirrored, continuesCopy) = state.withLock { state in
            let unconfirmed = exchange(&state.unconfirmed, with: [])
            return (
                state.isMirrored ? unconfirmed : state.pieces + [state.tail, state.block], state.isMirrored,
                state.continuesCopy
            )
        }
        let isNew = !isMirrored && !(continuesCopy && mirror.savedHead?.generation == generation)
        // Until the copy has forgotten its former bytes, nothing is read from it; nor is it where they stay, since some
        // may be why this store was opened.
        guard mirror.keep(head, pieces + newBytes, isNew: isNew), !isMirrored else { return }
        let confirmed = state.withLock { state in
            state.isMirrored = true
            if !isNew { state.doubts += 1 }
            return state.takeConfirmed()
        }
        for bytes in confirmed { bytes.withBytes(of: bytes.range) { confirm($0, at: bytes.offset) } }
    }

    /// How many bytes a command reads for the copy beyond what it needs, and how many may be missing for that.
    static let (completedAtOnce, mostCompleted): (UInt64, UInt64) = (256 << 10, 8 << 20)

    func completeCopy() {
        let head = state.withLock { state in
            let isKept = state.isMirrored && state.isAccepted && !state.isAsKept && !state.isLeftForPending
            return isKept && state.transaction == nil && state.construction == nil ? state.own : nil
        }
        guard let mirror = location.mirror, let head, mirror.completePath == nil, (try? location.isOffline()) == false else {
            return
        }
        // Another process may have kept more.
        mirror.reread()
        let gaps = mirror.gaps(of: head)
        // To read all of a large vault is left to those who ask for it.
        guard (1...Self.mostCompleted).contains(gaps.reduce(0) { $0 + UInt64($1.count) }) else { return }
        var (wanted, room) = ([Range<UInt64>](), Self.completedAtOnce)
        for gap in gaps.reversed() where room > 0 {
            let range = gap.upperBound - min(UInt64(gap.count), room)..<gap.upperBound
            wanted.append(range)
            room -= UInt64(range.count)
        }
        guard let rows = try? location.flight(wanted.map { .bytes(generation, $0) }) else { return }
        for (range, rows) in zip(wanted, rows) {
            if let bytes = try? StoreBytes(rows, from: range.lowerBound), bytes.end <= range.upperBound {
                _ = mirror.keep(bytes, of: head)
            }
        }
    }

    func distrust() throws(LogError) -> Bool {
        guard !isAsKept else { return false }
        try checkServer()
        // A holder of the lock must not wait for another connection.
        if !state.withLock({ $0.isLocked }) {
            guard try location.currentHead() != nil else { throw location.absence }
        }
        state.withLock { $0.doubt() }
        return true
    }

    private struct Look {
        let head: StoreHead
        let newBytes: StoreBytes
    }

    /// Asks for the vault's row and what follows an offset; nil if the copy stands in for the server.
    private func look(after end: UInt64, knowing known: StoreHead) throws(LogError) -> Look? {
        if try !location.isOffline() {
            do throws(LogError) {
                let found = try ask(after: end, knowing: known)
                location.notePresence()
                return found
            } catch {
                guard location.noteFailure(error) else { throw error }
            }
        }
        location.noteStandIn()
        return nil
    }

    private func ask(after end: UInt64, knowing known: StoreHead) throws(LogError) -> Look {
        // On this machine, one more flight where it is needed takes less time than a new session of the server to learn
        // of another table.
        if location.pool.isLocal, try location.currentHead() == known {
            return Look(head: known, newBytes: StoreBytes(offset: end))
        }
        let rows = try location.flight([
            .head(of: location.name), .extents(generation, from: end, upTo: PostgresLocation.tailSize),
        ])
        let (found, bytes) = try location.translated { () throws(PostgresError) in
            (try StoreHead(rows[0]), try StoreBytes(rows[1], from: end))
        }
        location.serverClock.note(rows[0], Statement.clockColumn)
        guard let found else { throw location.absence }
        return Look(head: found, newBytes: bytes)
    }
}
