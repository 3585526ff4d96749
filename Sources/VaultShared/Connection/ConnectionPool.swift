import Formats
import LinuxSystem

/// The connections of this process to one place. A thread takes one, and gives it back.
final class ConnectionPool: Sendable {
    private let parameters: ConnectionParameters
    /// In the order in which they are tried. They are found when the first is needed.
    private let servers = Mutex<[Server]>([])
    private let password: DatabasePassword?
    private let idle = Mutex<[PostgresConnection]>([])
    /// One that is not connected yet, or was asked ahead.
    private let begun = Mutex<Begun?>(nil)
    private let last = Mutex<Host?>(nil)

    struct Host {
        /// With its port.
        let name: String
        /// Whether it only follows another one.
        let isStandby: Bool
    }

    private struct Begun {
        let connection: PostgresConnection
        /// What is asked once it is connected.
        var question: Statement?
        /// When it was.
        var asked: Deadline?
    }

    /// How long to wait for the login at first. A server on this machine may share our processor: it runs when we wait.
    /// One that takes longer logs us in while we go on.
    private static let firstWait: Duration = .milliseconds(1)
    /// How old an answer may be that was asked for ahead: a person may have been asked for a passphrase meanwhile.
    private static let answerLifetime: Duration = .seconds(1)
    /// How long one of several hosts may take to answer: behind a dead one, the next waits.
    private static let patience: Duration = .seconds(2)

    /// - Parameters:
    ///   - parameters: what a URL gives.
    ///   - password: what to log in with; nil leaves that to libpq.
    init(_ parameters: ConnectionParameters, _ password: DatabasePassword? = nil) {
        (self.parameters, self.password) = (parameters, password)
    }

    private func found() throws(PostgresError) -> [Server] {
        try servers.withLock { (servers) throws(PostgresError) in
            if servers.isEmpty { servers = try Server.found(by: parameters) }
            return servers
        }
    }

    /// How many hosts there are. If one goes, another may take its place soon.
    var hostCount: Int { (try? found().count) ?? 1 }
    /// Whether all of them are on this machine.
    var isLocal: Bool { (try? found().allSatisfy(\.isLocal)) ?? false }

    /// The host that was connected to last.
    var lastHost: Host? { last.withLock { $0 } }

    /// Runs `body` with a connection, which it has for itself.
    func withConnection<Result>(
        until deadline: Deadline, _ body: (PostgresConnection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        let connection = try take(until: deadline)
        defer { give(back: connection) }
        return try body(connection)
    }

    /// Begins to connect to the first host, hardly waiting: ``goOn()`` goes on, and so does the next ``take(until:)``,
    /// which begins anew if this one fails. A password that has to be asked for is not, before it is needed.
    func begin() {
        guard password == nil, let server = try? found().first,
            let connection = try? PostgresConnection(beginning: server)
        else { return }
        _ = try? connection.goOn(until: .now + ConnectionPool.firstWait)
        begun.withLock { $0 = Begun(connection: connection) }
    }

    /// Asks as soon as what was begun is connected, for ``answer(until:)``.
    func ask(_ question: Statement) {
        begun.withLock { $0?.question = question }
        goOn()
    }

    /// Goes on with what was begun, without waiting. Returns whether there is nothing more to go on with.
    @discardableResult
    func goOn() -> Bool {
        guard var found = begun.withLock({ $0?.asked == nil ? $0.take() : nil }) else { return true }
        do throws(PostgresError) {
            if try found.connection.goOn(until: .now), let question = found.question {
                try found.connection.ask(question)
                found.asked = .now
            }
        } catch { return true }
        begun.withLock { [found] in $0 = found }
        return found.asked != nil
    }

    /// Waits for the answer to what was asked ahead; nil if nothing was, or too long ago.
    func answer(until deadline: Deadline) -> Rows? {
        guard let found = begun.withLock({ $0?.asked != nil ? $0.take() : nil }), let asked = found.asked,
            let rows = try? found.connection.answer(until: deadline)
        else { return nil }
        last.withLock { $0 = found.connection.host }
        give(back: found.connection)
        return asked + ConnectionPool.answerLifetime > .now ? rows : nil
    }

    /// Takes an idle connection, or makes one. One of several hosts that is away is waited for.
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
                    throw error.orWhatTellsMore(known)
                }
                known = error.orWhatTellsMore(known)
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
                failure = error.orWhatTellsMore(failure)
            }
        }
        throw failure ?? PostgresError(.notConnected, "no host is named")
    }

    private func connect(_ connection: PostgresConnection, until deadline: Deadline) throws(PostgresError) {
        try connection.connect(until: hostCount > 1 ? min(deadline, .now + ConnectionPool.patience) : deadline)
        last.withLock { $0 = connection.host }
    }

    /// Keeps a connection for the next use, unless it is broken or in the midst of a transaction.
    func give(back connection: PostgresConnection) {
        if connection.isIdle { idle.withLock { $0.append(connection) } }
    }

    /// Begins with the next host from now on: the present one is not as new as it was.
    func turnToNextHost() {
        servers.withLock { servers in
            if !servers.isEmpty { servers.append(servers.removeFirst()) }
        }
        // Their connections end once they are released, which takes no lock.
        _ = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
    }
}
