import CLinux
import CPostgres
import Formats
private import Glibc
import LinuxSystem

/// A connection to a server, over libpq (PostgreSQL's documentation, chapter 34).
///
/// Sendable although unchecked: once it is made, libpq's handle is used by the thread alone that has its turn.
final class PostgresConnection: @unchecked Sendable {
    struct Session: ~Copyable {
        /// While it is not connected: what of its socket it waits for; then 0.
        var wanted = Int16(POLLOUT)
        var prepared = PreparedStatements()
        /// nil until a server is reached.
        var wire: Wire?
    }

    let handle: OpaquePointer
    let warnings = Warnings()
    let turn = Mutex(Session())
    private let process = getpid()

    private let server: Server

    /// Begins to connect to a server. ``connect(until:)`` has to follow.
    init(beginning server: Server, with password: HeldSecret? = nil) throws(PostgresError) {
        self.server = server
        let started = server.parameters.withPointers(and: password) { PQconnectStartParams($0, $1, 0) }
        guard let started else { throw PostgresError(.notConnected, "no memory") }
        handle = started
        // An error at the login then says its SQLSTATE.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        PQsetNoticeReceiver(
            handle,
            { context, notice in
                if let context { Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue().note(notice) }
            },
            Unmanaged.passUnretained(warnings).toOpaque())
    }

    deinit {
        // A child process that closed its copy would end the parent's session.
        guard process == getpid() else { return }
        PQfinish(handle)
        // It has taken its leave.
        turn.withLock { $0.wire?.carryOut() }
    }

    /// Goes on until it is connected to a server that is as asked for.
    func connect(until deadline: Deadline) throws(PostgresError) {
        guard try goOn(until: deadline) else { throw .timedOut }
    }

    /// Does the same, but returns false once the deadline has passed. It can go on later.
    func goOn(until deadline: Deadline) throws(PostgresError) -> Bool {
        try checkProcess()
        return try turn.withLock { (session) throws(PostgresError) in
            while session.wanted != 0, PQstatus(handle) != CONNECTION_BAD {
                try layWire(&session)
                guard isReady(session, for: session.wanted, until: deadline) else { return false }
                let isReached = session.wire != nil && !isClosed(session)
                if vault_bytes_waiting(PQsocket(handle)) == 0 { try session.wire?.carryIn() }
                defer { session.wire?.carryOut() }
                switch PQconnectPoll(handle) {
                case PGRES_POLLING_OK:
                    PQsetnonblocking(handle, 1)
                    PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
                    session.wanted = 0
                    wipePassword()
                case PGRES_POLLING_READING: session.wanted = Int16(POLLIN)
                case PGRES_POLLING_WRITING: session.wanted = Int16(POLLOUT)
                default:
                    throw PostgresError(
                        ofLogin: String(cString: PQerrorMessage(handle)), isRefusal: isReached, server.advice)
                }
            }
            guard session.wanted == 0 else { throw failure(.notConnected) }
            return true
        }
    }

    /// Puts a wire between libpq and the server once there is one, and another one if libpq tries another server.
    private func layWire(_ session: inout Session) throws(PostgresError) {
        let isReached = ![CONNECTION_STARTED, CONNECTION_NEEDED].contains(PQstatus(handle))
        if !isReached {
            session.wire = nil
        } else if session.wire == nil {
            session.wire = try Wire(replacing: PQsocket(handle))
        }
    }

    /// Whether the other end has closed the connection, and has said nothing more.
    private func isClosed(_ session: borrowing Session) -> Bool {
        guard vault_bytes_waiting(PQsocket(handle)) == 0, let socket = socket(of: session) else { return false }
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count == 0 || count < 0 && errno != EAGAIN
    }

    private func socket(of session: borrowing Session) -> Int32? {
        switch session.wire {
        case .some(let wire): wire.descriptor
        case .none: nil
        }
    }

    /// Gives libpq what has come.
    func receive(_ session: inout Session) throws(PostgresError) {
        if vault_bytes_waiting(PQsocket(handle)) == 0 { try session.wire?.carryIn() }
        guard PQconsumeInput(handle) == 1 else { throw failure(.lost) }
        session.wire?.carryOut()
    }

    /// A connection that is made needs it no more.
    private func wipePassword() {
        guard let password = PQpass(handle) else { return }
        let count = strlen(password)
        // Without a password it is a constant.
        if count > 0 { explicit_bzero(password, count) }
    }

    func checkProcess() throws(PostgresError) {
        guard process == getpid() else { throw PostgresError(.notConnected, "the connection is the parent process's") }
    }

    /// Whether it leads to a server, no transaction is open on it, and nothing has come that nobody asked for: when it
    /// ends a session, a server says so.
    var isIdle: Bool {
        guard process == getpid() else { return false }
        return turn.withLock { session in
            PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE
                && !isReady(session, for: Int16(POLLIN), until: .now)
        }
    }

    /// Whether it leads to a server, and a transaction that goes on is open on it.
    var isInTransaction: Bool {
        guard process == getpid() else { return false }
        return turn.withLock { _ in PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_INTRANS
        }
    }

    /// What it leads to.
    var host: ConnectionPool.Host {
        let isStandby = PQparameterStatus(handle, "in_hot_standby").map { String(cString: $0) == "on" } ?? false
        return ConnectionPool.Host(name: "\(text(PQhost(handle))):\(text(PQport(handle)))", isStandby: isStandby)
    }

    /// What protects the way to the server.
    enum Encryption {
        /// The server has proved who it is, by its certificate or its ticket.
        case certificate, ticket
        /// Nothing has to: there is no way. Whether it is encrypted all the same.
        case local(hasTLS: Bool)
        /// TLS to whoever has answered; the `sslmode`.
        case unproved(String)
        case none
    }

    var encryption: Encryption {
        turn.withLock { _ in
            if PQgssEncInUse(handle) == 1 { return .ticket }
            let hasTLS = PQsslInUse(handle) == 1
            if hasTLS, server.mode == Server.proof { return .certificate }
            return server.isLocal ? .local(hasTLS: hasTLS) : hasTLS ? .unproved(server.mode) : .none
        }
    }

    func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

    // MARK: Notifications

    /// Waits until the server has something to tell, or another descriptor is readable. Returns whether there was a
    /// notification.
    func waitForNotification(or descriptor: Int32, milliseconds: Int32) throws(PostgresError) -> Bool {
        try turn.withLock { (session) throws(PostgresError) in
            let sockets = [socket(of: session) ?? -1, descriptor]
            var descriptors = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
            session.wire?.allow(0)
            try receive(&session)
            var isNotified = false
            while let notification = PQnotifies(handle) {
                PQfreemem(notification)
                isNotified = true
            }
            return isNotified
        }
    }

    // MARK: Errors

    func failure(_ reason: PostgresError.Reason) -> PostgresError {
        PostgresError(reason, String(cString: PQerrorMessage(handle)))
    }

    // MARK: Waiting

    func wait(_ session: borrowing Session, for events: Int16, until deadline: Deadline) throws(PostgresError) {
        guard isReady(session, for: events, until: deadline) else { throw .timedOut }
    }

    /// Waits for the server. Returns whether it is ready. libpq's own timeouts do not bound an answer, and the server's
    /// do not bound a commit.
    private func isReady(_ session: borrowing Session, for events: Int16, until deadline: Deadline) -> Bool {
        // There is something left of what libpq was given.
        if events & Int16(POLLIN) != 0, vault_bytes_waiting(PQsocket(handle)) > 0 { return true }
        while true {
            let milliseconds = deadline.millisecondsLeft
            var descriptor = pollfd(fd: socket(of: session) ?? PQsocket(handle), events: events, revents: 0)
            if poll(&descriptor, 1, Int32(clamping: max(0, milliseconds))) > 0 { return true }
            guard milliseconds > 0 else { return false }
        }
    }
}

/// A field of an error's report (34.3.1).
func fieldCode(_ character: Character) -> Int32 { Int32(character.asciiValue ?? 0) }

/// Whether the server has warned. A commit whose wait for the standby was cancelled is a success with a warning.
final class Warnings: Sendable {
    private let state = Mutex(false)

    var isAny: Bool { state.withLock { $0 } }

    func clear() { state.withLock { $0 = false } }

    func note(_ result: OpaquePointer?) {
        guard let severity = PQresultErrorField(result, fieldCode("V")) ?? PQresultErrorField(result, fieldCode("S"))
        else { return }
        if String(cString: severity) == "WARNING" { state.withLock { $0 = true } }
    }
}
