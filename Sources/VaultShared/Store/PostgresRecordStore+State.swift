import SealedLog

extension PostgresRecordStore {
    struct State {
        /// What the database last said of the vault.
        var head: StoreHead {
            didSet {
                if head.generation == last?.generation {
                    // Somebody has put back what was there before.
                    last = nil
                } else if head.generation != oldValue.generation {
                    last = last ?? oldValue
                }
            }
        }
        /// What it last said of this store, if another has taken its place: those who are reading this one go on.
        private(set) var last: StoreHead?
        var own: StoreHead { last ?? head }
        /// Bytes that came with the head: the header's extent, the end of what the generation began with.
        private(set) var pieces: [StoreBytes]
        /// Whether the database has bytes behind the end that it names.
        var hasMore = false
        /// Where the bytes end, if what the database says of that is ignored.
        var sizeFound: UInt64?
        /// The newest bytes.
        var tail: StoreBytes
        /// New bytes that the log has not followed yet, and what the database said with them.
        var unfollowed: [(head: StoreHead, bytes: StoreBytes)] = []
        /// What was read last and could not be kept: there is no copy, or its disk is full.
        private(set) var block = StoreBytes(offset: 0)
        /// What was read for the copy, before it was known that the server has the history of the copy.
        var unconfirmed: [StoreBytes] = []
        /// What the copy that this machine keeps is of.
        var copy: CopyState
        /// How many read past the copy: some of it has not authenticated, or it is being verified.
        var doubts = 0
        /// What has authenticated before it was known whether the copy stays.
        private(set) var confirmed: [StoreBytes] = []
        var phase: Phase
        /// Whether no server has answered for the lock: changes go to a file that is merged later.
        var isLeftForPending = false
        /// While this process holds the lock.
        var transaction: Transaction?
    }

    /// How far this process knows the store.
    enum Phase {
        /// It is being written, and the vault's row does not lead to it.
        case constructing(Construction)
        /// It is as this machine has kept it; the database was not asked.
        ///
        /// - Parameter isOpen: whether the log was opened on it.
        case kept(isOpen: Bool)
        /// The database was asked, and the log was not opened on it yet.
        case found
        /// The log was opened on it, or has written it: the copy may become one of it.
        ///
        /// - Parameter isNew: whether that was just now, with the vault's row as it was read then: a program that ends
        ///   soon need not read it again.
        case open(isNew: Bool)
    }

    /// What the copy that this machine keeps is of, as far as this store may use it.
    enum CopyState {
        /// It is of this store.
        case own
        /// It is not known to be of this store, until the log has accepted the store: it may be that of another one,
        /// which a server that was put back can be restored from.
        ///
        /// - Parameter isContinued: whether the log includes what the copy ends with: what is kept of this store's
        ///   generation stays.
        case another(isContinued: Bool)
    }

    /// A transaction that holds the vault's lock.
    struct Transaction {
        let connection: PostgresConnection
        let hasListener: Bool
        var queue = StatementQueue()
        /// Whether its commit is under way: others may see what it has written before this process hears of it, and
        /// write more.
        var isCommitting = false
    }
}

extension PostgresRecordStore.State {
    /// Takes over what the database says now.
    ///
    /// - Parameter newBytes: from the end of a log on.
    mutating func learn(_ found: StoreHead, _ newBytes: StoreBytes, of generation: UInt64) {
        if found.generation == generation {
            if case .kept(let isOpen) = phase { phase = isOpen ? .open(isNew: false) : .found }
            if found.size > head.size || tail.end != found.size { tail = newBytes }
        }
        head = found
    }

    /// Notes that the log was opened on the store. Returns whether the vault's row was read for that.
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

    /// Returns whether the log was just opened with what was read then; false from the next call on.
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

    /// What is under construction; nil once the store is published.
    var construction: PostgresRecordStore.Construction? {
        if case .constructing(let construction) = phase { construction } else { nil }
    }

    /// Changes what is under construction; does nothing once the store is published.
    mutating func construct(_ change: (inout PostgresRecordStore.Construction) -> Void) {
        guard case .constructing(var construction) = phase else { return }
        // Otherwise the change would copy all that waits to be sent.
        phase = .found
        change(&construction)
        phase = .constructing(construction)
    }

    /// How many blocks wait at most until it is known that the copy may have them.
    private static let mostUnconfirmed = 16

    mutating func wait(toFollow bytes: StoreBytes, with head: StoreHead) {
        if unfollowed.count == Self.mostUnconfirmed { unfollowed.removeFirst() }
        unfollowed.append((head, bytes))
    }

    mutating func keep(_ block: StoreBytes) {
        self.block = block
        if isMirrored, unconfirmed.count < Self.mostUnconfirmed { unconfirmed.append(block) }
    }

    /// Takes what the log has followed. Returns nil if that is not where the database has said that the log ends.
    mutating func takeFollowed(to position: LogPosition) -> (head: StoreHead, bytes: [StoreBytes])? {
        let due = unfollowed.filter { $0.head.position.sequence <= position.sequence }
        guard let head = due.last(where: { $0.head.position == position })?.head else { return nil }
        unfollowed.removeAll { $0.head.position.sequence <= position.sequence }
        return (head, due.map(\.bytes))
    }

    /// Forgets all bytes, and reads past the copy until the doubt ends. What is under construction has no other place.
    mutating func doubt() {
        guard construction == nil else { return }
        (pieces, tail, block, unconfirmed) = ([], StoreBytes(offset: own.size), StoreBytes(offset: 0), [])
        doubts += 1
    }

    /// How many bytes wait at most until it is known whether the copy stays.
    private static let mostConfirmed = 8 << 20

    mutating func keep(confirmed bytes: UnsafeRawBufferPointer, at offset: UInt64) {
        guard !isMirrored, !isOpen, construction == nil,
            confirmed.reduce(bytes.count, { $0 + $1.bytes.count }) <= Self.mostConfirmed
        else { return }
        confirmed.append(StoreBytes(offset: offset, bytes: Array(bytes)))
    }

    mutating func takeConfirmed() -> [StoreBytes] { exchange(&confirmed, with: []) }

    /// Where the database says that the log of this store ends; nil while it is being written, and once that is ignored.
    var statedEnd: StatedEnd? {
        guard construction == nil, sizeFound == nil else { return nil }
        return StatedEnd(own.position, at: own.size, hasMore: hasMore)
    }

    /// Whether nobody else can write, so that nothing need be asked.
    var isLocked: Bool { transaction.map { !$0.isCommitting } ?? false }

    func isOlder(than position: LogPosition) -> Bool {
        !isLocked && head.position.sequence < position.sequence
    }

    func growth(after end: UInt64, _ position: LogPosition, of generation: UInt64) -> StoreGrowth {
        guard head.generation == generation else { return .doubtful }
        if head.size == end, head.position == position { return .none }
        guard head.size > end, head.position.sequence > position.sequence else { return .doubtful }
        // What can be read of a database is durable.
        return .some(upTo: statedEnd, areDurable: true)
    }
}
