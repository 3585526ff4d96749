package import LinuxSystem
package import SealedLog
import Sealing
package import Vault

/// A vault's place in a database.
package final class PostgresLocation: StoreLocation {
    package let path: String
    package let files: any FileSystem
    package var report: (any StoreReport)? { self }
    let pool: ConnectionPool
    /// A hash of the vault's name: the database need not know it.
    let name: [UInt8]
    package var vaultName: [UInt8]? { name }
    /// The channel on which its changes are told.
    let channel: String
    /// The numbers of advisory locks, which all vaults of a database share.
    let (lockKey, listenerKey, compactionKey): (UInt64, UInt64, UInt64)
    /// nil if nothing is kept.
    let mirror: Mirror?
    /// Why nothing is kept, if that is not what was asked for.
    let cacheDistrust: LogError?
    let offline: Keychain.Options.Offline
    /// Whether the first look at the end, right after the opening, is none: the process asks one thing and ends.
    let isShortLived: Bool
    /// Whether the vault's row is asked for while the log is opened.
    private var asksAhead: Bool { readsAtOnce && pool.isLocal }
    private let readsAtOnce: Bool
    /// Where changes are kept that are made while no server answers.
    let pendingPath: String?
    /// What files begin with that keep a copy which the vault does not include.
    let keptPaths: [String]
    /// The position at which the copy ends that was last kept as a file.
    let copyInFile = Mutex<LogPosition?>(nil)
    /// Tells of the files in which a former copy was kept, and of a copy that stands in for the server.
    let notices = NoticeBoard()
    /// What the server's clock says, at each look at the vault's row.
    let serverClock = ServerClock()
    /// Whether this process has found the vault before.
    private let isFound = Atomic(false)
    /// Whether the program changes nothing.
    let changesNothing: Bool
    /// Since no server has answered.
    let outage = Mutex(Outage())

    /// How long a server may take to log us in, and for an answer.
    let timeout: Duration
    /// The same for many megabytes.
    let longTimeout: Duration
    /// How long to wait in line before it is doubted that those in front write, and how long not to do it again.
    static let (patience, impatience): (Duration, Duration) = (.seconds(2), .seconds(10))
    /// Until when nobody waits in line.
    private let impatientUntil = Mutex<Deadline?>(nil)
    /// How much of the log's end is asked for at once, in bytes.
    static let tailSize: UInt64 = 256 << 10

    /// - Throws: ``VaultError/Code/invalid``.
    package init(
        _ url: String, _ location: VaultLocation, _ options: Keychain.Options, in files: any FileSystem
    ) throws(VaultError) {
        let url = try DatabaseURL(url)
        self.files = files
        (offline, isShortLived, changesNothing) = (options.offline, options.isShortLived, options.changesNothing)
        // Without any time, not even a server beside us could answer.
        timeout = max(.seconds(1), options.lockTimeout)
        longTimeout = max(.seconds(120), timeout)
        let foreign = location.cache.flatMap(files.partOfAnotherUser)
        cacheDistrust = foreign.map { LogError(.untrustworthy, Distrust.anotherOwner.reason(of: $0)) }
        mirror = foreign == nil ? location.cache.map { Mirror(of: url.location, in: $0, files) } : nil
        let file = Mirror.name(of: url.location)
        pendingPath = location.rollbackMemory.map { "\($0)/\(file)\(FileLocation.pendingEnding)" }
        // The cache may be emptied at any time, but is better than nothing.
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
                // Another process has merged the changes, and removed the file.
                guard error.code == .missing else { throw error }
            }
        }
        if way == .fresh, offline == .always { mirror?.reread() }
        // The server logs us in while the copy is read, and the log opened from it.
        if way == .quick, offline != .always { pool.begin() }
        if let known = mirror?.head, way == .quick || offline == .always {
            if asksAhead { pool.ask(.head(of: name)) }
            return PostgresRecordStore(self, as: known)
        }
        guard offline != .always else {
            if let cacheDistrust { throw cacheDistrust }
            throw LogError(.unreachable, "This machine has kept nothing of \(path). Use it once with the server.")
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

    /// Notes that there is a vault: without it, it is gone from now on.
    func noteFound() { isFound.store(true, ordering: .relaxed) }

    /// The failure of whoever finds no vault.
    var absence: LogError { LogError(isFound.load(ordering: .relaxed) ? .gone : .missing, path) }

    package func createUnpublished() throws(LogError) -> any NewStore {
        try createSchema()
        return try PostgresRecordStore.begin(at: self)
    }

    package func createLocked() throws(LogError) -> any NewStore {
        try createSchema()
        return try PostgresRecordStore.beginLocked(at: self)
    }

    // MARK: Waiting in line

    /// Whether those who wait in line wait in vain: the vault's row was free a short while ago.
    var isImpatient: Bool { impatientUntil.withLock { $0.map { $0 > .now } ?? false } }

    func noteImpatience() { impatientUntil.withLock { $0 = Deadline(after: PostgresLocation.impatience) } }

    /// Creates the tables if there are none. An administrator may have made them for those who cannot.
    private func createSchema() throws(LogError) {
        do throws(LogError) { _ = try flight([.tables]) } catch {
            guard [.missing, .gone].contains(error.code) else { throw error }
            // In one transaction, behind others that create them at the same time.
            let key = RunningHash.number(of: "schema")
            do throws(LogError) { try createTables(behind: key, for: PostgresLocation.patience) } catch {
                guard error.code == .busy else { throw error }
                // Those who hold the lock need not be creating anything.
                do throws(LogError) { try createTables(behind: nil, for: timeout) } catch {
                    // Others may have created the same in this moment.
                    guard (try? flight([.tables])) != nil else { throw error }
                }
            }
            // CockroachDB has no such setting, and creating roles is for those who may.
            _ = try? flight([Statement(Schema.storage)])
            _ = try? flight(Schema.roles.map { Statement($0) })
        }
    }

    private func createTables(behind key: UInt64?, for patience: Duration) throws(LogError) {
        let queue = Statement.queue(key, upTo: UInt64(patience / .milliseconds(1)))
        _ = try flight([queue] + Schema.creation.map { Statement($0) })
    }

    /// nil if there is no vault.
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

    /// Sends statements that change nothing, or all or nothing, in one flight.
    func flight(_ statements: [Statement], until deadline: Deadline? = nil) throws(LogError) -> [Rows] {
        let deadline = deadline ?? Deadline(after: timeout)
        return try attempt(until: deadline, patience: hasStandIn ? .zero : PostgresLocation.restartPatience) {
            () throws(PostgresError) in
            try pool.withConnection(until: deadline) { (connection) throws(PostgresError) in
                try connection.flight(statements, until: deadline).rows
            }
        }
    }

    /// How long an absent server is waited for: one that is started again, above all.
    static let restartPatience: Duration = .seconds(3)

    /// Tries a call again after a connection was lost, or the server asks for it.
    ///
    /// - Parameter patience: how long to try also if no server can be reached; nil for as long as anything.
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
            case .notConnected, .loginRefused: "Cannot connect to \(path): \(error.words)."
            case .lost: "The connection to \(path) was lost: \(error.words)."
            case .timedOut: "\(path) does not answer. Check the server and the network, and try again."
            case .refused("42501"):
                "The database does not permit this at \(path): \(error.words). Ask its administrator for the role "
                    + "vault_writer, or vault_reader to read only; and, for its first vault, to run what "
                    + "`vault init --sql` prints."
            case .refused("25006"):
                "The server at \(path) is a standby, or read-only: nothing can be written there."
            case .refused(let state): "The database at \(path) refused: \(error.words) (SQLSTATE \(state))."
            case .malformed, .absent: "\(path) cannot be used: \(error.words)."
            }
        let isAway = error.isOutage || error.isOfConnection && error.state != "25006"
        return LogError(isAway ? .unreachable : .serverRefused, sentence)
    }
}

/// Called by the loader, before any other code of the program.
@_cdecl("vault_shared_register")
package func register() {
    DatabaseLocations.register { (url, location, options, files) throws(VaultError) in
        try PostgresLocation(url, location, options, in: files)
    }
}
