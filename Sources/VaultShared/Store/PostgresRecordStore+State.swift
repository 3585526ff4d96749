import SealedLog

extension PostgresRecordStore {
    struct State {
        /// The head that the database has stated last for the vault.
        var head: StoreHead {
            didSet {
                if head.generation == last?.generation {
                    // The former generation was restored.
                    last = nil
                } else if head.generation != oldValue.generation {
                    last = last ?? oldValue
                }
            }
        }
        /// The head that it has stated last for this store, if another has replaced it: its readers continue.
        private(set) var last: StoreHead?
        var own: StoreHead { last ?? head }
        /// Bytes that came with the head: the header's extent, and the end of the generation's first bytes.
        private(set) var pieces: [StoreBytes]
        /// Whether the database has bytes after the end that it states.
        var hasMore = false
        /// The end of the bytes, if the database's own statement is ignored.
        var sizeFound: UInt64?
        /// The newest bytes.
        var tail: StoreBytes
        /// New bytes that the log has not followed yet, and the head that came with them.
        var unfollowed: [(head: StoreHead, bytes: StoreBytes)] = []
        /// The last bytes that were read but could not be kept, because there is no copy or its disk is full.
        private(set) var block = StoreBytes(offset: 0)
        /// The bytes that were read for the copy before it is known that the server has the copy's history.
        var unconfirmed: [StoreBytes] = []
        /// The store that this machine's copy belongs to.
        var copy: CopyState
        /// The number of reasons to read past the copy: some of it has not authenticated, or it is being verified.
        var doubts = 0
        /// The bytes that have authenticated before it is known whether the copy stays.
        private(set) var confirmed: [StoreBytes] = []
        var phase: Phase
        /// Whether no server has answered the request for the lock. Changes then go to a file that is merged later.
        var isLeftForPending = false
        /// The transaction of this process that holds the lock; nil if there is none.
        var transaction: Transaction?
    }

    enum Phase {
        /// It is being written, and the vault's row does not lead to it.
        case constructing(Construction)
        /// It is this machine's copy; the database was not contacted.
        ///
        /// - Parameter isOpen: whether the log was opened on it.
        case kept(isOpen: Bool)
        /// The database was contacted, but the log was not opened on it yet.
        case found
        /// The log was opened on it or has written it, so the copy may become one of this store.
        ///
        /// - Parameter isNew: whether the log was opened just now, with the vault's row as it was read then. A
        ///   short-lived program need not read it again.
        case open(isNew: Bool)
    }

    /// The relation of this machine's copy to the store.
    enum CopyState {
        case own
        /// The copy is not known to belong to this store until the log has accepted the store. It may belong to another
        /// one, and be needed to restore a server.
        ///
        /// - Parameter isContinued: whether the log includes the copy's end. Then the bytes of this generation stay.
        case another(isContinued: Bool)
    }

    /// A transaction that holds the vault's lock.
    struct Transaction {
        let connection: PostgresConnection
        let hasListener: Bool
        var queue = StatementQueue()
        /// Whether it is being committed. Other processes may read its changes before this process gets the answer, and
        /// may write further ones.
        var isCommitting = false
    }
}

extension PostgresRecordStore.State {
    /// Takes over the head that the database states now.
    ///
    /// - Parameter newBytes: the bytes from the end of a log on.
    mutating func update(_ found: StoreHead, _ newBytes: StoreBytes, of generation: UInt64) {
        if found.generation == generation {
            if case .kept(let isOpen) = phase { phase = isOpen ? .open(isNew: false) : .found }
            if found.size > head.size || tail.end != found.size { tail = newBytes }
        }
        head = found
    }

    /// Records that the log was opened on the store. Returns whether the vault's row was read for that.
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

    /// Returns whether the log was just opened with the head that was read then; false from the next call on.
    mutating func takeNew() -> Bool {
        guard case .open(isNew: true) = phase else { return false }
        phase = .open(isNew: false)
        return true
    }

    var isKept: Bool { if case .kept = phase { true } else { false } }

    /// Whether the log was opened on the store, or has written it.
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

    /// Changes the construction. It does nothing once the store is published.
    mutating func construct(_ change: (inout PostgresRecordStore.Construction) -> Void) {
        guard case .constructing(var construction) = phase else { return }
        // Otherwise the change would copy all bytes that wait to be sent.
        phase = .found
        change(&construction)
        phase = .constructing(construction)
    }

    /// The maximum number of blocks that are held until it is known that the copy may have them.
    private static let mostUnconfirmed = 16

    mutating func wait(toFollow bytes: StoreBytes, with head: StoreHead) {
        if unfollowed.count == Self.mostUnconfirmed { unfollowed.removeFirst() }
        unfollowed.append((head, bytes))
    }

    mutating func keep(_ block: StoreBytes) {
        self.block = block
        if isMirrored, unconfirmed.count < Self.mostUnconfirmed { unconfirmed.append(block) }
    }

    /// Takes the bytes that the log has followed. Returns nil for an end that the database has not stated.
    mutating func takeFollowed(to position: LogPosition) -> (head: StoreHead, bytes: [StoreBytes])? {
        let due = unfollowed.filter { $0.head.position.sequence <= position.sequence }
        guard let head = due.last(where: { $0.head.position == position })?.head else { return nil }
        unfollowed.removeAll { $0.head.position.sequence <= position.sequence }
        return (head, due.map(\.bytes))
    }

    /// Drops all bytes, and reads past the copy until the doubt ends. A store under construction keeps its bytes, since
    /// they are nowhere else.
    mutating func doubt() {
        guard construction == nil else { return }
        pieces = []
        tail = StoreBytes(offset: own.size)
        block = StoreBytes(offset: 0)
        unconfirmed = []
        doubts += 1
    }

    /// The maximum number of bytes that are held until it is known whether the copy stays.
    private static let mostConfirmed = 8 << 20

    mutating func keep(confirmed bytes: UnsafeRawBufferPointer, at offset: UInt64) {
        guard !isMirrored, !isOpen, construction == nil,
            confirmed.reduce(bytes.count, { $0 + $1.bytes.count }) <= Self.mostConfirmed
        else { return }
        confirmed.append(StoreBytes(offset: offset, bytes: Array(bytes)))
    }

    mutating func takeConfirmed() -> [StoreBytes] { exchange(&confirmed, with: []) }

    /// The end of this store's log as the database states it; nil while it is being written, and once it is ignored.
    var statedEnd: StatedEnd? {
        guard construction == nil, sizeFound == nil else { return nil }
        return StatedEnd(own.position, at: own.size, hasMore: hasMore)
    }

    /// Whether no other process can write, so that the head need not be requested.
    var isLocked: Bool { transaction.map { !$0.isCommitting } ?? false }

    func isOlder(than position: LogPosition) -> Bool { !isLocked && head.position.sequence < position.sequence }

    func growth(after end: UInt64, _ position: LogPosition, of generation: UInt64) -> StoreGrowth {
        guard head.generation == generation else { return .doubtful }
        if head.size == end, head.position == position { return .none }
        guard head.size > end, head.position.sequence > position.sequence else { return .doubtful }
        // All records that can be read from a database are durable.
        return .some(upTo: statedEnd, areDurable: true)
    }
}
