import Formats
import LinuxSystem

/// A pool of this process's connections to one database. A thread takes a connection, and returns it after use.
final class ConnectionPool: Sendable {
    private let parameters: ConnectionParameters
    /// The servers in the order in which they are tried; empty until a server is first needed.
    private let servers = Mutex<[Server]>([])
    private let password: DatabasePassword?
    private let idle = Mutex<[PostgresConnection]>([])
    /// The connection that ``begin()`` has started. It may still be logging in, or awaiting the answer to ``ask(_:)``.
    private let begun = Mutex<Begun?>(nil)
    private let last = Mutex<Host?>(nil)

    struct Host {
        /// The host's name and port.
        let name: String
        /// Whether the host is a standby, which replicates another server.
        let isStandby: Bool
    }

    private struct Begun {
        let connection: PostgresConnection
        /// The statement to send once the connection is established.
        var question: Statement?
        var asked: Deadline?
    }

    /// How long ``begin()`` waits for the login. A server on this machine may share a core with this process, and can
    /// run during the wait. If the login takes longer, ``goOn()`` or ``take(until:)`` completes it.
    private static let firstWait: Duration = .milliseconds(1)
    /// How long an answer to ``ask(_:)`` is valid after the statement was sent. A passphrase prompt may take longer.
    private static let answerLifetime: Duration = .seconds(1)
    /// The login timeout for each of several hosts. It is short, so that an unreachable host causes little delay.
    private static let patience: Duration = .seconds(2)

    /// - Parameters:
    ///   - parameters: the parameters in the vault's URL.
    ///   - password: the password for the login; if nil, libpq looks up the password itself.
    init(_ parameters: ConnectionParameters, _ password: DatabasePassword? = nil) {
        self.parameters = parameters
        self.password = password
    }

    private func found() throws(PostgresError) -> [Server] {
        try servers.withLock { (servers) throws(PostgresError) in
            if servers.isEmpty { servers = try Server.found(by: parameters) }
            return servers
        }
    }

    /// The number of hosts. If there are several and one fails, retrying makes sense: another host may soon take over.
    var hostCount: Int { (try? found().count) ?? 1 }
    var isLocal: Bool { (try? found().allSatisfy(\.isLocal)) ?? false }

    var lastHost: Host? { last.withLock { $0 } }

    /// Runs `body` with a connection that no other thread uses at the same time.
    func withConnection<Result>(
        until deadline: Deadline, _ body: (PostgresConnection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        let connection = try take(until: deadline)
        defer { give(back: connection) }
        return try body(connection)
    }

    /// Begins to connect to the first host, and waits for at most 1 ms. ``goOn()`` or the next ``take(until:)``
    /// continues the login. If the login fails, ``take(until:)`` starts a new one. Does nothing if the password is in
    /// an entry, because the entry is read only when a connection is needed.
    func begin() {
        guard password == nil, let server = try? found().first,
            let connection = try? PostgresConnection(beginning: server)
        else { return }
        _ = try? connection.goOn(until: .now + ConnectionPool.firstWait)
        begun.withLock { $0 = Begun(connection: connection) }
    }

    /// Sends a statement, once the login that ``begin()`` started is complete. ``answer(until:)`` returns its result.
    func ask(_ question: Statement) {
        begun.withLock { $0?.question = question }
        goOn()
    }

    /// Continues the login that ``begin()`` started, without waiting. Returns true if no further call is needed.
    @discardableResult
    func goOn() -> Bool {
        guard var found = begun.withLock({ $0?.asked == nil ? $0.take() : nil }) else { return true }
        do throws(PostgresError) {
            if try found.connection.goOn(until: .now), let question = found.question {
                try found.connection.send(question)
                found.asked = .now
            }
        } catch { return true }
        begun.withLock { [found] in $0 = found }
        return found.asked != nil
    }

    /// Waits for the answer to ``ask(_:)``. Returns nil if nothing was sent, or the answer is outdated or unreadable.
    func answer(until deadline: Deadline) -> Rows? {
        guard let found = begun.withLock({ $0?.asked != nil ? $0.take() : nil }), let asked = found.asked,
            let rows = try? found.connection.answer(until: deadline)
        else { return nil }
        last.withLock { $0 = found.connection.host }
        give(back: found.connection)
        return asked + ConnectionPool.answerLifetime > .now ? rows : nil
    }

    /// Returns an idle or a new connection. If none of several hosts can be reached, retries until the deadline.
    func take(until deadline: Deadline) throws(PostgresError) -> PostgresConnection {
        _ = answer(until: deadline)
        while let connection = idle.withLock({ $0.popLast() }) {
            if connection.isIdle { return connection }
        }
        if let begun = begun.withLock({ $0.take() })?.connection, (try? connect(begun, until: deadline)) != nil {
            return begun
        }
        var targets = Targets(servers: try found())
        if let password {
            let verified = try targets.servers.map { (server) throws(PostgresError) in try VerifiedServer(server) }
            targets = Targets(servers: verified.map(\.server), password: try password.read(for: verified))
        }
        var known: PostgresError?
        while true {
            do throws(PostgresError) { return try connect(to: targets, until: deadline) } catch {
                guard hostCount > 1, error.isOutage || error.isOfConnection, !deadline.hasPassed else {
                    throw error.orMoreUseful(known)
                }
                known = error.orMoreUseful(known)
            }
            Clock.sleep(microseconds: 50_000)
        }
    }

    private struct Targets {
        let servers: [Server]
        var password: HeldSecret?
    }

    private func connect(to targets: Targets, until deadline: Deadline) throws(PostgresError) -> PostgresConnection {
        var failure: PostgresError?
        for server in targets.servers {
            do throws(PostgresError) {
                let connection = try PostgresConnection(beginning: server, with: targets.password)
                try connect(connection, until: deadline)
                return connection
            } catch {
                failure = error.orMoreUseful(failure)
            }
        }
        throw failure ?? PostgresError(.notConnected, "no host is named")
    }

    private func connect(_ connection: PostgresConnection, until deadline: Deadline) throws(PostgresError) {
        try connection.connect(until: hostCount > 1 ? min(deadline, .now + ConnectionPool.patience) : deadline)
        last.withLock { $0 = connection.host }
    }

    /// Puts a connection back into the pool, or drops it if it is broken or has an open transaction.
    func give(back connection: PostgresConnection) { if connection.isIdle { idle.withLock { $0.append(connection) } } }

    /// Makes new connections try the next host first, because the current first host lacks committed changes.
    func turnToNextHost() {
        servers.withLock { servers in
            if !servers.isEmpty { servers.append(servers.removeFirst()) }
        }
        // The idle connections close when the returned array is released, which is after the mutex is unlocked.
        _ = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
    }
}
