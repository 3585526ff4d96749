import SealedLog

extension PostgresRecordStore {
    struct State {
        /// The contents of the vault's row, as last returned by the database.
        var head: StoreHead {
            didSet {
                if head.generation == last?.generation {
                    // This store's generation has become the current one again.
                    last = nil
                } else if head.generation != oldValue.generation {
                    last = last ?? oldValue
                }
            }
        }
        /// The last ``head`` of this store's generation, for its readers; nil while this generation is current.
        private(set) var last: StoreHead?
        var own: StoreHead { last ?? head }
        /// Bytes returned with the vault's row: the header's extent, and the end of the initial contents.
        private(set) var pieces: [StoreBytes]
        /// Whether the database has bytes after the end of the log, as recorded in the vault's row.
        var hasMore = false
        /// The end of the last extent after ``ignoreStatedEnd()``; nil if the log's end is taken from the vault's row.
        var sizeFound: UInt64?
        /// The bytes at the end of the store that are in memory.
        var tail: StoreBytes
        /// Batches of new bytes that the log has not accepted yet, each with the vault's row returned with it.
        var unfollowed: [(head: StoreHead, bytes: StoreBytes)] = []
        /// The last block that was read from the server but cannot be read back from the local copy.
        private(set) var block = StoreBytes(offset: 0)
        /// Blocks to save to the local copy once the server's history is known to include the copy's.
        var unconfirmed: [StoreBytes] = []
        /// Whether the local copy is a copy of this store.
        var copy: CopyState
        /// The number of reasons to bypass the local copy, such as a verification or bytes that failed to authenticate.
        var doubts = 0
        /// Authenticated bytes that are held until it is known whether the local copy will be used for this store.
        private(set) var confirmed: [StoreBytes] = []
        var phase: Phase
        /// Whether changes go to the file for pending changes, because no server has answered a request for the lock.
        var isLeftForPending = false
        /// This process's transaction that holds the vault's lock; nil if there is none.
        var transaction: Transaction?
    }

    enum Phase {
        /// The store is being written. The vault's row does not point to it yet.
        case constructing(Construction)
        /// The store is read from the local copy, and the database has not been contacted.
        ///
        /// - Parameter isOpen: whether the log has opened and accepted the store.
        case kept(isOpen: Bool)
        /// The database has been contacted, but the log has not opened and accepted the store yet.
        case found
        /// The log has opened and accepted the store or has written it, so its bytes may be saved to the local copy.
        ///
        /// - Parameter isNew: whether the vault's row has just been read in order to open the log. If so, a short-lived
        ///   program need not read it again.
        case open(isNew: Bool)
    }

    /// Whether the local copy is a copy of this store (`own`), or may be one of another store.
    enum CopyState {
        case own
        /// The copy may be a copy of another store and may be needed to repair a server, so it is used for this store
        /// only after the log has accepted this store.
        ///
        /// - Parameter isContinued: whether the log includes the log position at the copy's end. If so, the copy's
        ///   bytes of this generation are still valid.
        case another(isContinued: Bool)
    }

    /// A transaction that holds the vault's lock.
    struct Transaction {
        let connection: PostgresConnection
        let hasListener: Bool
        var queue = StatementQueue()
        /// Whether the database is committing the transaction. Other processes may read its changes, and append further
        /// ones, before this process receives the database's answer.
        var isCommitting = false
    }
}

extension PostgresRecordStore.State {
    /// Sets ``head`` to `found`, the contents of the vault's row that the database has just returned.
    ///
    /// - Parameter newBytes: the bytes after the end of the log that this process knew before the call.
    mutating func update(_ found: StoreHead, _ newBytes: StoreBytes, of generation: UInt64) {
        if found.generation == generation {
            if case .kept(let isOpen) = phase { phase = isOpen ? .open(isNew: false) : .found }
            if found.size > head.size || tail.end != found.size { tail = newBytes }
        }
        head = found
    }

    /// Records that the log has accepted the store. Returns whether the vault's row was read in order to open it.
    mutating func accept(continuing isContinued: Bool) -> Bool {
        if !isMirrored { copy = .another(isContinued: isContinued) }
        switch phase {
        case .kept: phase = .kept(isOpen: true)
        case .found:
            phase = .open(isNew: true)
            return true
        case .open, .constructing: break
        }
        return false
    }

    /// Returns true on the first call after the vault's row was read from the database to open the log.
    mutating func takeNew() -> Bool {
        guard case .open(isNew: true) = phase else { return false }
        phase = .open(isNew: false)
        return true
    }

    var isKept: Bool { if case .kept = phase { true } else { false } }

    /// Whether the log has written this store, or has opened and accepted it.
    var isOpen: Bool {
        switch phase {
        case .kept(let isOpen): isOpen
        case .open: true
        case .found, .constructing: false
        }
    }

    var isMirrored: Bool { if case .own = copy { true } else { false } }

    var construction: PostgresRecordStore.Construction? {
        if case .constructing(let construction) = phase { construction } else { nil }
    }

    /// Applies `change` to the data of a store that is under construction. Does nothing for any other store.
    mutating func construct(_ change: (inout PostgresRecordStore.Construction) -> Void) {
        guard case .constructing(var construction) = phase else { return }
        // If `phase` still referred to the construction's queued bytes, `change` would copy all of them.
        phase = .found
        change(&construction)
        phase = .constructing(construction)
    }

    /// The maximum length of ``unconfirmed`` and of ``unfollowed``.
    private static let mostUnconfirmed = 16

    mutating func wait(toFollow bytes: StoreBytes, with head: StoreHead) {
        if unfollowed.count == Self.mostUnconfirmed { unfollowed.removeFirst() }
        unfollowed.append((head, bytes))
    }

    mutating func keep(_ block: StoreBytes) {
        self.block = block
        if isMirrored, unconfirmed.count < Self.mostUnconfirmed { unconfirmed.append(block) }
    }

    /// Removes and returns unaccepted bytes up to `position`, with the vault's row there; nil if no such row was read.
    mutating func takeFollowed(to position: LogPosition) -> (head: StoreHead, bytes: [StoreBytes])? {
        let due = unfollowed.filter { $0.head.position.sequence <= position.sequence }
        guard let head = due.last(where: { $0.head.position == position })?.head else { return nil }
        unfollowed.removeAll { $0.head.position.sequence <= position.sequence }
        return (head, due.map(\.bytes))
    }

    /// Discards the cached bytes, and bypasses the local copy until ``endDoubt()`` is called. Does nothing for a store
    /// under construction, whose bytes exist nowhere else.
    mutating func doubt() {
        guard construction == nil else { return }
        pieces = []
        tail = StoreBytes(offset: own.size)
        block = StoreBytes(offset: 0)
        unconfirmed = []
        doubts += 1
    }

    /// The maximum number of bytes in ``confirmed``.
    private static let mostConfirmed = 8 << 20

    mutating func keep(confirmed bytes: UnsafeRawBufferPointer, at offset: UInt64) {
        guard !isMirrored, !isOpen, construction == nil,
            confirmed.reduce(bytes.count, { $0 + $1.bytes.count }) <= Self.mostConfirmed
        else { return }
        confirmed.append(StoreBytes(offset: offset, bytes: Array(bytes)))
    }

    mutating func takeConfirmed() -> [StoreBytes] { exchange(&confirmed, with: []) }

    /// The log's end, as recorded in the vault's row; nil during construction, or after ``ignoreStatedEnd()``.
    var statedEnd: StatedEnd? {
        guard construction == nil, sizeFound == nil else { return nil }
        return StatedEnd(own.position, at: own.size, hasMore: hasMore)
    }

    /// Whether this process holds the vault's lock. While it does, no other process writes, so ``head`` is up to date.
    var isLocked: Bool { transaction.map { !$0.isCommitting } ?? false }

    func isOlder(than position: LogPosition) -> Bool { !isLocked && head.position.sequence < position.sequence }

    func growth(after end: UInt64, _ position: LogPosition, of generation: UInt64) -> StoreGrowth {
        guard head.generation == generation else { return .doubtful }
        if head.size == end, head.position == position { return .none }
        guard head.size > end, head.position.sequence > position.sequence else { return .doubtful }
        // A database returns only committed records, which are durable.
        return .some(upTo: statedEnd, areDurable: true)
    }
}
