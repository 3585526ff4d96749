package import LinuxSystem
package import SealedLog
package import Vault

package final class PostgresLocation: StoreLocation {
    package let path: String
    package let files: any FileSystem
    package var report: (any StoreReport)? { self }
    let pool: ConnectionPool
    /// The hash of the vault's name. The name itself is not in the database.
    let name: [UInt8]
    package var vaultName: [UInt8]? { name }
    let channel: String
    /// The keys of this vault's advisory locks. All vaults of a database share one key space.
    let lockKey: UInt64
    let listenerKey: UInt64
    let compactionKey: UInt64
    let mirror: Mirror?
    /// The reason why there is no local copy although one was requested.
    let cacheDistrust: LogError?
    let offline: VaultLocation.Offline
    /// Whether to skip the first check of the log's end after opening, because the process runs only one command.
    let isShortLived: Bool
    /// Whether to request the vault's row while the log is being opened.
    private var asksAhead: Bool { readsAtOnce && pool.isLocal }
    private let readsAtOnce: Bool
    /// The path of the file for changes that are made while no server can be reached.
    let pendingPath: String?
    /// The path prefixes of saved copies, which contain changes that the vault in the database lacks.
    let keptPaths: [String]
    /// The last log position of the local copy that this object last saved to a separate file; nil if it saved none.
    let copyInFile = Mutex<LogPosition?>(nil)
    /// The notices for the user about saved copies, and about the use of the local copy instead of the server.
    let notices = NoticeBoard()
    /// The server's clock, as of the last read of the vault's row.
    let serverClock = ServerClock()
    /// Whether this process has already found the vault in the database.
    private let isFound = Atomic(false)
    let changesNothing: Bool
    let outage = Mutex(Outage())

    /// The timeout for a login and for most of the server's answers.
    let timeout: Duration
    /// The timeout for requests that may process many megabytes.
    let longTimeout: Duration
    /// How long to wait in the queue for a lock before suspecting that the processes ahead are not writing.
    static let patience: Duration = .seconds(2)
    /// How long this process bypasses the queue for the vault's lock after it has waited in that queue without success.
    static let impatience: Duration = .seconds(10)
    private let impatientUntil = Mutex<Deadline?>(nil)
    /// The number of bytes to read at the log's end in one request.
    static let tailSize: UInt64 = 256 << 10

    /// - Throws: ``VaultError/Code/invalid``.
    package init(
        _ url: String, _ location: VaultLocation, _ options: StoreOptions, in files: any FileSystem
    ) throws(VaultError) {
        let url = try DatabaseURL(url)
        self.files = files
        offline = options.offline
        isShortLived = options.isShortLived
        changesNothing = options.changesNothing
        // Even a server on this machine may take almost a second to answer, so the timeout is at least a second.
        timeout = max(.seconds(1), options.lockTimeout)
        longTimeout = max(.seconds(120), timeout)
        let foreign = location.cache.flatMap(files.partOfAnotherUser)
        cacheDistrust = foreign.map { LogError(.untrustworthy, Distrust.anotherOwner.reason(of: $0)) }
        mirror = foreign == nil ? location.cache.map { Mirror(of: url.location, in: $0, files) } : nil
        let file = Mirror.name(of: url.location)
        pendingPath = location.rollbackMemory.map { "\($0)/\(file)\(FileLocation.pendingEnding)" }
        // The cache may be emptied at any time, so it is only the second choice for saved copies.
        keptPaths = [location.rollbackMemory, location.cache].compactMap { $0.map { "\($0)/\(file)-kept" } }
        path = url.location
        readsAtOnce = options.readsAtOnce
        pool = ConnectionPool(url.parameters, url.passwordEntry.map(DatabasePassword.init(inEntry:)))
        name = RunningHash.hash(of: "vault \(url.vault)")
        channel = "vault_" + Hexadecimal.string(of: Array(name[..<8]))
        lockKey = RunningHash.number(of: "lock \(url.vault)")
        listenerKey = RunningHash.number(of: "listener \(url.vault)")
        compactionKey = RunningHash.number(of: "compaction \(url.vault)")
    }

    // MARK: Stores

    package func open(_ way: StoreOpening) throws(LogError) -> any RecordStore {
        if offline != .never, let pending = try pending(), try isOffline() {
            do throws(LogError) {
                let store = try pending.open(way)
                noteStandIn()
                return store
            } catch {
                // If the file for pending changes is missing, another process has merged its changes and removed it.
                guard error.code == .missing else { throw error }
            }
        }
        if way == .fresh, offline == .always { mirror?.reread() }
        // The login to the database proceeds while the local copy is read and the log is opened from it.
        if way == .quick, offline != .always { pool.begin() }
        if let known = mirror?.head, way == .quick || offline == .always {
            if asksAhead { pool.ask(.head(of: name)) }
            return PostgresRecordStore(self, as: known)
        }
        guard offline != .always else {
            if let cacheDistrust { throw cacheDistrust }
            throw LogError(.unreachable, "This machine has no copy of \(path). Connect to the server first.")
        }
        let rows = try flight([
            .head(of: name), .header(of: name), .tail(of: name, upTo: PostgresLocation.tailSize),
            .base(of: name, count: PostgresRecordStore.blockSize, unlessSmallerThan: PostgresLocation.tailSize),
            .hasMore(name),
        ])
        serverClock.note(rows[0], Statement.clockColumn)
        let store: PostgresRecordStore? = try translated { () throws(PostgresError) in
            guard let head = try StoreHead(rows[0]) else { return nil }
            let pieces = try rows[1...3].map { (rows) throws(PostgresError) in
                try StoreBytes(rows, from: rows.count > 0 ? rows.number(0, 0) : head.size)
            }
            return PostgresRecordStore(
                self,
                PostgresRecordStore.State(
                    head: head, pieces: [pieces[0], pieces[2]], hasMore: try rows[4].flag(0, 0), tail: pieces[1],
                    copy: .another(isContinued: false), phase: .found))
        }
        guard let store else { throw absence }
        if way == .damaged { try store.ignoreStatedEnd() }
        return store
    }

    /// Records that the vault exists. From now on, its absence is reported as ``LogError/Code/gone``.
    func noteFound() { isFound.store(true, ordering: .relaxed) }

    var absence: LogError { LogError(isFound.load(ordering: .relaxed) ? .gone : .missing, path) }

    package func createUnpublished() throws(LogError) -> any NewStore {
        try createSchema()
        return try PostgresRecordStore.begin(at: self)
    }

    package func createLocked() throws(LogError) -> any NewStore {
        try createSchema()
        return try PostgresRecordStore.beginLocked(at: self)
    }

    // MARK: Queue

    /// Whether this process bypasses the lock's queue, having recently found it blocked but the vault's row free.
    var isImpatient: Bool { impatientUntil.withLock { $0.map { $0 > .now } ?? false } }

    func noteImpatience() { impatientUntil.withLock { $0 = Deadline(after: PostgresLocation.impatience) } }

    /// Creates the tables if they do not exist. If the user lacks permission, an administrator must create them.
    private func createSchema() throws(LogError) {
        do throws(LogError) { _ = try flight([.tables]) } catch {
            guard [.missing, .gone].contains(error.code) else { throw error }
            // The tables are created in one transaction. Processes that create them at the same time wait in a queue.
            let key = RunningHash.number(of: "schema")
            do throws(LogError) { try createTables(behind: key, for: PostgresLocation.patience) } catch {
                guard error.code == .busy else { throw error }
                // The queue is now bypassed, because another user may block it without creating any tables.
                do throws(LogError) { try createTables(behind: nil, for: timeout) } catch {
                    // The error is ignored if the tables exist now, because another process may have created them.
                    guard (try? flight([.tables])) != nil else { throw error }
                }
            }
            // Failures are now ignored: CockroachDB lacks the storage setting, and not every user can create roles.
            _ = try? flight([Statement(Schema.storage)])
            _ = try? flight(Schema.roles.map { Statement($0) })
        }
    }

    private func createTables(behind key: UInt64?, for patience: Duration) throws(LogError) {
        let queue = Statement.queue(key, upTo: UInt64(patience / .milliseconds(1)))
        _ = try flight([queue] + Schema.creation.map { Statement($0) })
    }

    func currentHead() throws(LogError) -> StoreHead? {
        let deadline = Deadline(after: timeout)
        let rows =
            if let answer = pool.answer(until: deadline) { answer } else {
                try flight([.head(of: name)], until: deadline)[0]
            }
        serverClock.note(rows, Statement.clockColumn)
        return try translated { () throws(PostgresError) in try StoreHead(rows) }
    }

    package func takeNotices() -> [Notice] { notices.take() + serverClock.takeNotices() }

    // MARK: Calls

    /// Sends statements in one flight, and resends them after some errors. The flight must be read-only or atomic.
    func flight(_ statements: [Statement], until deadline: Deadline? = nil) throws(LogError) -> [Rows] {
        let deadline = deadline ?? Deadline(after: timeout)
        return try attempt(until: deadline, patience: hasStandIn ? .zero : PostgresLocation.restartPatience) {
            () throws(PostgresError) in
            try pool.withConnection(until: deadline) { (connection) throws(PostgresError) in
                try connection.flight(statements, until: deadline).rows
            }
        }
    }

    /// How long to wait for an unreachable server, which may just be restarting.
    static let restartPatience: Duration = .seconds(3)

    /// Runs a call. Repeats it if the connection is lost or the server requests a retry.
    ///
    /// - Parameter patience: how long to retry while no server can be reached; nil to retry until `deadline`.
    func attempt<Result>(
        until deadline: Deadline, patience: Duration? = PostgresLocation.restartPatience,
        _ call: () throws(PostgresError) -> Result
    ) throws(LogError) -> Result {
        var pause: UInt32 = 1_000
        let end = patience.map { Deadline(after: min($0, timeout)) } ?? deadline
        while true {
            do throws(PostgresError) { return try call() } catch {
                let isWorthwhile =
                    error.isOutage
                    ? !end.hasPassed
                    : (error.isTransient || error.isOfConnection) && !deadline.hasPassed
                guard isWorthwhile else { throw translation(of: error) }
            }
            Clock.sleep(microseconds: pause)
            pause = min(pause * 2, 50_000)
        }
    }

    // MARK: Errors

    func translated<Result>(_ call: () throws(PostgresError) -> Result) throws(LogError) -> Result {
        do { return try call() } catch { throw translation(of: error) }
    }

    func translation(of error: PostgresError) -> LogError {
        if error.isMissingSchema || error.reason == .absent { return absence }
        if error.isLockTimeout { return LogError(.busy, path) }
        let sentence =
            switch error.reason {
            case .notConnected, .loginRefused: "Cannot connect to \(path): \(error.message)."
            case .lost: "The connection to \(path) was lost: \(error.message)."
            case .timedOut: "\(path) does not answer. Check the server and the network, and try again."
            case .refused("42501"):
                "The database at \(path) does not permit this: \(error.message). Ask its administrator for the role "
                    + "vault_writer (or vault_reader, to read only). Before the first vault, the administrator must "
                    + "run the output of `vault init --sql`."
            case .refused("25006"):
                "The server at \(path) is a standby or read-only, so nothing can be written there."
            case .refused(let state): "The database at \(path) refused: \(error.message) (SQLSTATE \(state))."
            case .malformed, .absent: "\(path) cannot be used: \(error.message)."
            }
        let isAway = error.isOutage || error.isOfConnection && error.state != "25006"
        return LogError(isAway ? .unreachable : .serverRefused, sentence)
    }
}
