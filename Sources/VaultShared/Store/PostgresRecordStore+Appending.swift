import LinuxSystem
import SealedLog
import Vault

// Lock first, then append: without contention that costs no more than a compare-and-append alone, and with it far less.
// The compare in the statement and the primary key decide, never the lock: CockroachDB's locks are an effort.

extension PostgresRecordStore {
    // MARK: The lock

    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock? {
        guard isOfThisProcess else { return nil }
        guard kind == .exclusive else { return try isCurrent() ? StoreLock(store: self) : nil }
        do throws(LogError) {
            if location.offline == .always { throw LogError(.unreachable) }
            let patience: Duration =
                location.hasStandIn && location.isInOutage ? .zero : PostgresLocation.restartPatience
            for attempt in 1...max(1, location.pool.hostCount) {
                let before = state.withLock { $0.head.position.sequence }
                try location.attempt(until: deadline, patience: patience) { () throws(PostgresError) in
                    try beginTransaction(until: deadline)
                }
                location.notePresence()
                // A former primary that was started again is older than the one that took its place.
                guard attempt < location.pool.hostCount, state.withLock({ $0.head.position.sequence < before }) else {
                    break
                }
                unlock()
                location.pool.turnToNextHost()
            }
        } catch {
            guard error.code == .unreachable, location.offline == .always || location.noteFailure(error) else {
                throw error
            }
            location.noteStandIn()
            state.withLock { $0.isLeftForPending = true }
            return nil
        }
        let lock = StoreLock(store: self)
        guard try isCurrent() else { return nil }
        return lock
    }

    /// Waits for the vault's lock, and learns what was appended: one flight.
    ///
    /// Others can hold the place in line who cannot write. So if the row is free after a while, those in front do not
    /// write; and at last, everybody waits for the row, which decides.
    private func beginTransaction(until deadline: Deadline) throws(PostgresError) {
        if !location.isImpatient {
            let (line, left) = (location.lockKey, max(0, deadline.millisecondsLeft))
            let patience = min(PostgresLocation.patience, .milliseconds(left / 4))
            if try hasBegun(behind: line, until: Deadline(after: patience)) { return }
            if try hasBegun(behind: nil, until: .now) { return location.noteImpatience() }
            if left > 0, try hasBegun(behind: line, until: Deadline(after: .milliseconds(left / 2))) { return }
        }
        try beginTransaction(behind: nil, until: deadline)
    }

    /// Returns false if the lock was not free in time.
    private func hasBegun(behind key: UInt64?, until deadline: Deadline) throws(PostgresError) -> Bool {
        do throws(PostgresError) { try beginTransaction(behind: key, until: deadline) } catch {
            guard error.isLockTimeout else { throw error }
            return false
        }
        return true
    }

    /// - Parameter key: of the place in line; nil waits for the row alone.
    private func beginTransaction(behind key: UInt64?, until deadline: Deadline) throws(PostgresError) {
        let end = state.withLock { $0.tail.end }
        // A lock that is free is taken also after the deadline. The server itself ends the waiting for one that is not.
        let answerDeadline = max(deadline, .now) + location.timeout
        let connection = try location.pool.take(until: answerDeadline)
        defer { location.pool.give(back: connection) }
        let rows: [Rows]
        do throws(PostgresError) {
            rows = try connection.flight(
                [
                    .begin, .queue(key, upTo: UInt64(clamping: deadline.millisecondsLeft)),
                    .lockedHead(of: location.name, listeners: location.listenerKey),
                    .extents(generation, from: end, upTo: PostgresLocation.tailSize),
                ], until: answerDeadline
            ).rows
        } catch {
            _ = try? connection.flight([.rollback], until: Deadline(after: location.timeout))
            throw error
        }
        location.serverClock.note(rows[2], Statement.lockedClockColumn)
        guard let found = try StoreHead(rows[2]) else { throw .absent }
        let tail = try StoreBytes(rows[3], from: end)
        let hasListener = try rows[2].flag(0, 6)
        state.withLock { state in
            state.learn(found, tail, of: generation)
            state.hasMore = found.generation == generation && tail.end > found.size
            if found.generation == generation, !tail.bytes.isEmpty { state.wait(toFollow: tail, with: found) }
            state.transaction = Transaction(connection: connection, hasListener: hasListener)
        }
    }

    func unlock() {
        guard let transaction = state.withLock({ $0.transaction.take() }) else { return }
        _ = try? transaction.connection.flight([.rollback], until: Deadline(after: location.timeout))
        location.pool.give(back: transaction.connection)
    }

    // MARK: Writing

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        if try writeToConstruction(bytes, at: offset) { return }
        let full: (connection: PostgresConnection, statements: [Statement])? = state.withLock { state in
            state.transaction?.queue.addExtents(Array(bytes)[...], at: offset, of: generation)
            guard let transaction = state.transaction, transaction.queue.isFull else { return nil }
            return (transaction.connection, state.transaction?.queue.take() ?? [])
        }
        guard let full else { return }
        do throws(PostgresError) {
            _ = try full.connection.flight(full.statements, until: Deadline(after: location.timeout))
        } catch { throw refusal(error, of: state.withLock { $0.head }) }
    }

    func append(_ record: StoredRecord) throws(LogError) {
        guard var transaction = state.withLock({ $0.transaction }) else { throw LogError(.overtaken) }
        let previous = state.withLock { $0.head }
        let isRepeatable = !transaction.queue.hasSent
        let head = StoreHead(
            generation: generation, position: record.position, size: record.end, hint: record.hint ?? previous.hint)
        let first = record.bytes.prefix(Schema.extentSize)
        transaction.queue.addExtents(
            record.bytes.dropFirst(first.count), at: record.offset + UInt64(first.count), of: generation)
        var statements = transaction.queue.take()
        statements.append(
            .append(first, at: record.offset, to: location.name, head, replacing: record.previous))
        let append = PendingAppend(
            record: record, head: previous, statements: statements, isRepeatable: isRepeatable,
            deadline: Deadline(after: location.timeout))
        let bytes = record.isWhole ? StoreBytes(offset: record.offset, bytes: record.bytes) : nil
        try commit(append)
        finishTransaction()
        state.withLock { state in
            // A reader of this process may have heard of what followed.
            guard state.head.position.sequence < head.position.sequence else { return }
            state.head = head
            // To append it to the bytes that came with the lock would copy all of them.
            state.tail = bytes ?? StoreBytes(offset: record.end)
        }
        mirror(bytes.map { [$0] } ?? [], as: head)
    }

    // The transaction ends when the replacement is published, and the record counts from then on.
    func announce(_ record: StoredRecord) throws(LogError) { try write(record.bytes, at: record.offset) }

    /// The transaction has ended.
    func finishTransaction() {
        guard let transaction = state.withLock({ $0.transaction.take() }) else { return }
        location.pool.give(back: transaction.connection)
    }

    // MARK: Committing

    private struct PendingAppend {
        let record: StoredRecord
        /// What the database has said of the log that it follows.
        let head: StoreHead
        let statements: [Statement]
        /// Whether all that the record needs is among the statements.
        let isRepeatable: Bool
        let deadline: Deadline
    }

    /// Commits a record, and decides whether it was, if its connection died meanwhile.
    private func commit(_ append: PendingAppend) throws(LogError) {
        while let transaction = state.withLock({ $0.transaction }) {
            var statements = append.statements
            if transaction.hasListener { statements.append(.notify(location.channel)) }
            state.withLock { $0.transaction?.isCommitting = true }
            do throws(PostgresError) {
                let answer = try transaction.connection.flight(statements + [.commit], until: append.deadline)
                if answer.hasWarning { try prove(on: transaction.connection, until: append.deadline) }
                return
            } catch {
                guard error.isOfConnection else { throw refusal(error, of: append.head) }
                finishTransaction()
                if try isAppended(append, after: error) { return }
            }
        }
    }

    /// Returns why the tables have refused what was to follow the log. Usually the lock did not hold. But if the row of
    /// the vault is as it was, nobody was faster: there is something in the place of what follows.
    ///
    /// - Parameter known: what the row was when the lock was taken.
    func refusal(_ error: PostgresError, of known: StoreHead) -> LogError {
        if error.isTransient { return LogError(.overtaken) }
        guard error.isOvertaken else { return location.translation(of: error) }
        let connection = state.withLock { $0.transaction?.connection }
        let answer = try? connection?.flight(
            [.rollback, .head(of: location.name)], until: Deadline(after: location.timeout))
        let found = answer.flatMap { try? StoreHead($0.rows[1]) }
        guard found?.isAlike(known) == true else { return LogError(.overtaken) }
        return LogError(.damaged, "the database refuses what follows the log, at byte \(known.size)")
    }

    /// Decides whether a record was appended that was offered on a connection that is lost.
    ///
    /// - Returns: false if it was not, and can be offered again.
    private func isAppended(_ append: PendingAppend, after failure: PostgresError) throws(LogError) -> Bool {
        if try decided(after: failure, { () throws(LogError) in try holds(append.record) }) { return true }
        guard state.withLock({ $0.head.position == append.record.previous && $0.head.generation == generation }) else {
            throw LogError(.overtaken)
        }
        guard append.isRepeatable else { throw location.translation(of: failure) }
        return false
    }

    private func holds(_ record: StoredRecord) throws(LogError) -> Bool {
        let first = Array(record.bytes.prefix(Schema.extentSize))
        let range = record.offset..<record.offset + UInt64(first.count)
        let connection = state.withLock { $0.transaction?.connection }
        return try location.translated { () throws(PostgresError) in
            let answer = try connection?.flight([.bytes(generation, range)], until: Deadline(after: location.timeout))
            return try answer.map { (answer) throws(PostgresError) in
                try StoreBytes(answer.rows[0], from: record.offset).bytes == first
            } ?? false
        }
    }

    /// Looks, with the lock held, what became of a transaction whose connection is lost: it held the lock, so it has
    /// ended, one way or the other. Throws `outcomeUnknown` if no server answers, for which it has time of its own: the
    /// lost connection may have used up all that there was.
    ///
    /// - Returns: whether `look` has found that it was committed. The lock is still held if not.
    func decided(after failure: PostgresError, _ look: () throws(LogError) -> Bool) throws(LogError) -> Bool {
        let deadline = Deadline(after: location.timeout)
        while true {
            do throws(LogError) { return try decided(until: deadline, look) } catch {
                guard [.unreachable, .serverRefused, .busy].contains(error.code) else { throw error }
                finishTransaction()
                // The connection to look on may be lost as well.
                if error.code == .unreachable, !deadline.hasPassed { continue }
                throw LogError(
                    .outcomeUnknown,
                    "The connection to \(path) was lost while a change was committed, and no server has answered "
                        + "since (\(failure.words)). The change may or may not be stored. Look at it before you try "
                        + "again.")
            }
        }
    }

    private func decided(until deadline: Deadline, _ look: () throws(LogError) -> Bool) throws(LogError) -> Bool {
        try location.attempt(until: deadline, patience: nil) { () throws(PostgresError) in
            try beginTransaction(until: deadline)
        }
        guard try look() else { return false }
        guard let connection = state.withLock({ $0.transaction?.connection }) else { return true }
        try location.translated { () throws(PostgresError) in
            _ = try connection.flight([.rollback], until: deadline)
            // A standby may not have had it when the connection died.
            try prove(on: connection, until: deadline)
        }
        return true
    }

    /// Makes sure that what was committed is durable: a commit whose wait for the standby was cancelled is a success
    /// with a warning. A commit after it is durable only if it is.
    func prove(on connection: PostgresConnection, until deadline: Deadline) throws(PostgresError) {
        do throws(PostgresError) {
            while try connection.flight([.proof], until: deadline).hasWarning {
                guard !deadline.hasPassed else { throw PostgresError.timedOut }
                Clock.sleep(microseconds: 20_000)
            }
        } catch {
            // CockroachDB has no such function, and no wait that could be cancelled.
            guard error.isMissingFunction else { throw error }
        }
    }
}
