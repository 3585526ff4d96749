import LinuxSystem
import SealedLog

// A new or compacted vault is written as a separate generation. It is not read until the vault's row points to it.

extension PostgresRecordStore {
    /// An unpublished store, and the transaction that writes it. The transaction has its own connection, which keeps it
    /// separate from any transaction in which this process changes the vault.
    struct Construction {
        let connection: PostgresConnection
        /// Whether the transaction holds the lock that prevents other writers from writing a new generation.
        let isLocked: Bool
        var queue = StatementQueue()
        var size: UInt64 = 0
        /// The written ranges of the new store, and the number of bytes written. Bytes written twice count twice.
        var written = (ranges: RangeSet<UInt64>(), count: UInt64(0))
        /// Whether each byte was written exactly once. A store whose extents overlap or leave gaps would be unreadable.
        var isWhole: Bool { written.ranges == RangeSet(0..<size) && written.count == size }
        var hint: Hint?
        /// Whether the server was asked to commit the transaction. The outcome may be unknown.
        var isCommitted = false
        /// Whether the vault's row may point to this generation now or later. If so, it must not be deleted.
        var isUndecided = false
    }

    /// Begins a generation, but sends nothing to the server yet. A process that holds the vault's lock must not wait
    /// for another connection: the processes that wait for the lock may occupy all connections of a pooler.
    static func begin(
        at location: PostgresLocation, locked isLocked: Bool = false
    ) throws(LogError) -> PostgresRecordStore {
        let generation = UInt64.random(in: 1..<1 << 62)
        let connection = try location.translated { () throws(PostgresError) in
            try location.pool.take(until: Deadline(after: location.timeout))
        }
        var construction = Construction(connection: connection, isLocked: isLocked)
        let lock: [Statement] = isLocked ? [.tryLock(location.compactionKey)] : []
        for statement in [.begin, .mayWait] + lock + [.beginGeneration(generation, of: location.name)] {
            construction.queue.add(statement)
        }
        let nowhere = LogPosition(sequence: 0, authenticator: .zero)
        return PostgresRecordStore(
            location,
            State(
                head: StoreHead(generation: generation, position: nowhere, size: 0, hint: nil),
                pieces: [], tail: StoreBytes(offset: 0), copy: .another(isContinued: false),
                phase: .constructing(construction)))
    }

    /// How long to wait for another process that is writing a generation. Any database user can hold the lock on new
    /// generations, so the wait is limited. That is safe: only the vault's row determines the current generation.
    private static let patience: Duration = .seconds(2)

    /// Begins a generation. First waits for any other generation that is being written, up to a time limit.
    static func beginLocked(at location: PostgresLocation) throws(LogError) -> PostgresRecordStore {
        let patience = Deadline(after: PostgresRecordStore.patience)
        while true {
            let new = try begin(at: location, locked: !patience.hasPassed)
            do throws(LogError) {
                try new.flushConstruction()
                return new
            } catch {
                new.discard()
                guard error.code == .busy, !patience.hasPassed else { throw error }
            }
            Clock.sleep(microseconds: 20_000)
        }
    }

    func makeReplacement(isImpatient: Bool) throws(LogError) -> any NewStore {
        guard !isImpatient else { return try PostgresRecordStore.begin(at: location) }
        // Only checks whether the lock on new generations is free; the first write acquires that lock. The check uses
        // the connection that holds the vault's lock, so that no second one is used if generations are locked.
        let connection = state.withLock { $0.transaction?.connection }
        let isFree = try location.translated { () throws(PostgresError) in
            try connection?.flight(Statement.isFree(location.compactionKey), until: Deadline(after: location.timeout))
                .rows[1].flag(0, 0) ?? true
        }
        guard isFree else { throw LogError(.busy, path) }
        return try PostgresRecordStore.begin(at: location, locked: true)
    }

    // MARK: Writing

    /// Writes bytes to a store that is still being written. Returns false if the store has already been published.
    func writeToConstruction(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) -> Bool {
        let isFull: Bool? = state.withLock { state in
            var isFull: Bool?
            state.construct { construction in
                construction.queue.addExtents(Array(bytes)[...], at: offset, of: generation)
                let end = offset + UInt64(bytes.count)
                construction.size = max(construction.size, end)
                construction.written.ranges.insert(contentsOf: offset..<end)
                construction.written.count += UInt64(bytes.count)
                isFull = construction.queue.isFull || !construction.queue.hasSent
            }
            return isFull
        }
        guard let isFull else { return false }
        if isFull { try flushConstruction() }
        return true
    }

    /// Sends the collected bytes to the server. They cannot be read until then. The first call throws `busy` if another
    /// process is writing a new generation.
    func flushConstruction() throws(LogError) {
        let pending = state.withLock { state in
            var pending: (PostgresConnection, [Statement], takesLock: Bool)?
            state.construct { construction in
                let takesLock = construction.isLocked && !construction.queue.hasSent
                pending = (construction.connection, construction.queue.take(), takesLock)
            }
            return pending
        }
        guard let (connection, statements, takesLock) = pending, !statements.isEmpty else { return }
        let isBusy = try location.translated { () throws(PostgresError) in
            let rows = try connection.flight(statements, until: Deadline(after: location.longTimeout)).rows
            guard takesLock else { return false }
            return try !rows[2].flag(0, 0)
        }
        if isBusy { throw LogError(.busy, path) }
    }

    func finish(at end: UInt64, _ hint: Hint?) throws(LogError) {
        state.withLock { state in
            state.construct { construction in
                construction.size = end
                construction.hint = hint
            }
        }
    }

    // MARK: Publishing

    func publish(over old: Replaceable?, _ position: LogPosition) throws(LogError) {
        try flushConstruction()
        guard let construction = state.withLock({ $0.construction }) else { return }
        guard construction.isWhole else { throw LogError(.conflict, "a byte was written twice, or never") }
        let head = StoreHead(
            generation: generation, position: position, size: construction.size, hint: construction.hint)
        // This commit releases the lock on new generations. Even so, no other process can begin a generation during a
        // replacement, because that requires the vault's lock, which this process holds.
        state.withLock { $0.construct { $0.isCommitted = true } }
        try location.translated { () throws(PostgresError) in
            _ = try construction.connection.flight([.commit], until: Deadline(after: location.longTimeout))
        }
        if let old = old?.store as? PostgresRecordStore {
            try replace(old, head)
        } else {
            try create(head, on: construction.connection)
        }
        // Deletes the vault's old generations, except recently replaced ones, which processes may still be reading.
        _ = try? construction.connection.flight(
            Statement.deleteOldGenerations(of: location.name), until: Deadline(after: location.longTimeout))
        state.withLock { state in
            state.head = head
            state.phase = .open(isNew: false)
            state.tail = StoreBytes(offset: head.size)
        }
        location.noteFound()
        location.pool.give(back: construction.connection)
    }

    /// Creates the vault's row. Retries after a lost connection; the row shows whether an earlier attempt succeeded.
    private func create(_ head: StoreHead, on connection: PostgresConnection) throws(LogError) {
        var connection = connection
        let found = try location.attempt(until: Deadline(after: location.timeout), patience: nil) {
            () throws(PostgresError) in
            let deadline = Deadline(after: location.timeout)
            if !connection.isIdle { connection = try location.pool.take(until: deadline) }
            state.withLock { $0.construct { $0.isUndecided = true } }
            let answer = try connection.flight(
                [.promised, .create(location.name, head), .head(of: location.name)], until: deadline)
            if answer.hasWarning { try prove(on: connection, until: deadline) }
            let found = try StoreHead(answer.rows[2])
            guard let old = found, old.generation != generation else { return found }
            // The row points to another process's new vault, or to a later generation of this vault.
            let isPassed = try connection.flight([.replaced(generation)], until: deadline).rows[0].count > 0
            return isPassed ? head : old
        }
        guard found?.generation == generation else {
            state.withLock { $0.construct { $0.isUndecided = false } }
            throw LogError(.exists, path)
        }
    }

    /// Points the vault's row to this generation, in the transaction that holds the replaced generation's lock.
    private func replace(_ old: PostgresRecordStore, _ head: StoreHead) throws(LogError) {
        let held = old.state.withLock { state in
            let statements = state.transaction?.queue.take() ?? []
            return state.transaction.map { ($0, statements, state.head) }
        }
        guard let (transaction, statements, oldHead) = held else { throw LogError(.conflict) }
        let deadline = Deadline(after: location.timeout)
        do throws(PostgresError) {
            let answer = try transaction.connection.flight(
                statements + [.replace(location.name, head, oldHead), .markReplaced(old.generation)], until: deadline)
            guard answer.rows[statements.count].changed == 1 else { throw .aborted }
            state.withLock { $0.construct { $0.isUndecided = true } }
            old.state.withLock { $0.transaction?.isCommitting = true }
            let last: [Statement] = transaction.hasListener ? [.notify(location.channel), .commit] : [.commit]
            let hasWarning = try transaction.connection.flight(last, until: deadline).hasWarning
            if hasWarning { try old.prove(on: transaction.connection, until: deadline) }
        } catch {
            let isUndecided = state.withLock { $0.construction?.isUndecided ?? false }
            if error.isOvertaken, !isUndecided { throw old.refusal(error, of: oldHead) }
            guard error.isOfConnection, isUndecided else {
                throw error.isTransient ? LogError(.conflict) : location.translation(of: error)
            }
            old.finishTransaction()
            let isReplaced = try old.decided(after: error) { () throws(LogError) in try isPublished(over: old) }
            old.unlock()
            state.withLock { $0.construct { $0.isUndecided = false } }
            guard isReplaced else { throw location.translation(of: error) }
        }
        old.finishTransaction()
    }

    /// Returns whether the vault's row points to this generation, or pointed to it until another process compacted the
    /// vault again. The caller must hold the lock of `old`.
    func isPublished(over old: PostgresRecordStore) throws(LogError) -> Bool {
        let (head, connection) = old.state.withLock { ($0.head, $0.transaction?.connection) }
        if head.generation == generation { return true }
        return try location.translated { () throws(PostgresError) in
            let answer = try connection?.flight([.replaced(generation)], until: Deadline(after: location.timeout))
            return answer.map { $0.rows[0].count > 0 } ?? false
        }
    }

    func discard() {
        let abandoned = state.withLock { state in
            let construction = state.construction
            if construction != nil { state.phase = .found }
            return construction
        }
        guard let construction = abandoned else { return }
        let undoing: [Statement] =
            !construction.isCommitted ? [.rollback] : construction.isUndecided ? [] : Statement.discard(generation)
        _ = try? construction.connection.flight(undoing, until: Deadline(after: location.longTimeout))
        location.pool.give(back: construction.connection)
    }
}
