import LinuxSystem
import SealedLog
import Vault

// A writer acquires the vault's lock before it appends a record. Without contention, this costs no more than a
// compare-and-append alone; under contention, far less. But CockroachDB does not guarantee its locks, so correctness
// depends only on the primary key and on the append statement, which fails unless the log still ends where expected.

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
                // A host that lacks records may be a former primary, back after a failover, so the next one is tried.
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

    /// Waits for the vault's lock and, in the same round trip, reads the records that other processes have appended.
    ///
    /// Users without write access can block the queue. If the vault's row is free after a while, no process ahead is
    /// writing, so this process skips the queue. Otherwise it queues again, and finally waits for the row alone.
    private func beginTransaction(until deadline: Deadline) throws(PostgresError) {
        if !location.isImpatient {
            let line = location.lockKey
            let left = max(0, deadline.millisecondsLeft)
            let patience = min(PostgresLocation.patience, .milliseconds(left / 4))
            if try hasBegun(behind: line, until: Deadline(after: patience)) { return }
            if try hasBegun(behind: nil, until: .now) { return location.noteImpatience() }
            if left > 0, try hasBegun(behind: line, until: Deadline(after: .milliseconds(left / 2))) { return }
        }
        try beginTransaction(behind: nil, until: deadline)
    }

    /// Begins a transaction that holds the lock. Returns false if the lock could not be acquired in time.
    private func hasBegun(behind key: UInt64?, until deadline: Deadline) throws(PostgresError) -> Bool {
        do throws(PostgresError) { try beginTransaction(behind: key, until: deadline) } catch {
            guard error.isLockTimeout else { throw error }
            return false
        }
        return true
    }

    /// - Parameter key: the key of the queue's lock; if nil, waits only for the lock of the vault's row.
    private func beginTransaction(behind key: UInt64?, until deadline: Deadline) throws(PostgresError) {
        let end = state.withLock { $0.tail.end }
        // A free lock is acquired even after the deadline. If the lock is not free, the server itself ends the wait.
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
            state.update(found, tail, of: generation)
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
        statements.append(.append(first, at: record.offset, to: location.name, head, replacing: record.previous))
        let append = PendingAppend(
            record: record, head: previous, statements: statements, isRepeatable: isRepeatable,
            deadline: Deadline(after: location.timeout))
        let bytes = record.isWhole ? StoreBytes(offset: record.offset, bytes: record.bytes) : nil
        try commit(append)
        finishTransaction()
        state.withLock { state in
            // If another thread has already read later records, its copy of the vault's row is newer and is kept.
            guard state.head.position.sequence < head.position.sequence else { return }
            state.head = head
            // Replace the bytes in memory: appending to them would copy all bytes read when the lock was acquired.
            state.tail = bytes ?? StoreBytes(offset: record.end)
        }
        mirror(bytes.map { [$0] } ?? [], as: head)
    }

    // The record takes effect only when the replacement that it announces is published. That ends the transaction.
    func announce(_ record: StoredRecord) throws(LogError) -> Bool {
        try write(record.bytes, at: record.offset)
        return false
    }

    func finishTransaction() {
        guard let transaction = state.withLock({ $0.transaction.take() }) else { return }
        location.pool.give(back: transaction.connection)
    }

    // MARK: Committing

    private struct PendingAppend {
        let record: StoredRecord
        /// The vault's row as the database returned it before the record was appended.
        let head: StoreHead
        let statements: [Statement]
        /// Whether `statements` contain all of the record's bytes. Only then can they be sent over a new connection.
        let isRepeatable: Bool
        let deadline: Deadline
    }

    /// Commits a record. If the connection is lost, checks whether the commit succeeded and, if not, repeats it.
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

    /// Returns the error for a record that the database has refused. Usually another writer was faster, because the
    /// lock was not exclusive. But if the vault's row is unchanged, the log already has bytes at the record's offset.
    ///
    /// - Parameter known: the vault's row when the lock was acquired.
    func refusal(_ error: PostgresError, of known: StoreHead) -> LogError {
        if error.isTransient { return LogError(.overtaken) }
        guard error.isOvertaken else { return location.translation(of: error) }
        let connection = state.withLock { $0.transaction?.connection }
        let answer = try? connection?.flight(
            [.rollback, .head(of: location.name)], until: Deadline(after: location.timeout))
        let found = answer.flatMap { try? StoreHead($0.rows[1]) }
        guard found?.isAlike(known) == true else { return LogError(.overtaken) }
        return LogError(.damaged, "the database refused to append a record at byte \(known.size)")
    }

    /// Returns whether a record was appended before the connection was lost. If not, it can be appended again.
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

    /// Acquires the vault's lock again, which is possible only after the interrupted transaction has ended. Returns
    /// whether that transaction was committed, according to `check`. If it was not, this process keeps the lock. Throws
    /// `outcomeUnknown` if no server answers in time. The timeout starts anew, because it may already have expired.
    func decided(after failure: PostgresError, _ check: () throws(LogError) -> Bool) throws(LogError) -> Bool {
        let deadline = Deadline(after: location.timeout)
        while true {
            do throws(LogError) { return try decided(until: deadline, check) } catch {
                guard [.unreachable, .serverRefused, .busy].contains(error.code) else { throw error }
                finishTransaction()
                // If the new connection is lost too, try again until the deadline.
                if error.code == .unreachable, !deadline.hasPassed { continue }
                throw LogError(
                    .outcomeUnknown,
                    "The connection to \(path) was lost while a change was committed, and no server has answered "
                        + "since (\(failure.message)). The change may or may not be stored. Check the vault before you try "
                        + "again.")
            }
        }
    }

    private func decided(until deadline: Deadline, _ check: () throws(LogError) -> Bool) throws(LogError) -> Bool {
        try location.attempt(until: deadline, patience: nil) { () throws(PostgresError) in
            try beginTransaction(until: deadline)
        }
        guard try check() else { return false }
        guard let connection = state.withLock({ $0.transaction?.connection }) else { return true }
        try location.translated { () throws(PostgresError) in
            _ = try connection.flight([.rollback], until: deadline)
            // The commit might not have reached the standby when the connection was lost, so ensure that it is durable.
            try prove(on: connection, until: deadline)
        }
        return true
    }

    /// Ensures that the last commit is durable, after a warning that its wait for the standby was cancelled. Commits
    /// further transactions until one causes no warning, because a later commit is durable only if the earlier one is.
    func prove(on connection: PostgresConnection, until deadline: Deadline) throws(PostgresError) {
        do throws(PostgresError) {
            while try connection.flight([.proof], until: deadline).hasWarning {
                guard !deadline.hasPassed else { throw PostgresError.timedOut }
                Clock.sleep(microseconds: 20_000)
            }
        } catch {
            // CockroachDB lacks the function in `proof`, but needs no proof: a commit's wait cannot be cancelled there.
            guard error.isMissingFunction else { throw error }
        }
    }
}
