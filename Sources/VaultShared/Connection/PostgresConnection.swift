import CLinux
import CPostgres
import Formats
private import Glibc
import LinuxSystem

/// A connection to a server through libpq (PostgreSQL's documentation, chapter 34).
///
/// It is `@unchecked Sendable`: after `init`, only the thread that holds the mutex uses libpq's handle.
final class PostgresConnection: @unchecked Sendable {
    struct Session: ~Copyable {
        /// The poll(2) events that the login waits for on the socket; 0 once the connection is established.
        var wanted = Int16(POLLOUT)
        var prepared = PreparedStatements()
        /// The relay between libpq and the server; nil until a server has been reached.
        var wire: Wire?
    }

    let handle: OpaquePointer
    let warnings = Warnings()
    let turn = Mutex(Session())
    private let process = getpid()

    private let server: Server

    /// Begins to connect to a server. ``connect(until:)`` must follow.
    init(beginning server: Server, with password: HeldSecret? = nil) throws(PostgresError) {
        self.server = server
        let started = server.parameters.withPointers(and: password) { PQconnectStartParams($0, $1, 0) }
        guard let started else { throw PostgresError(.notConnected, "no memory") }
        handle = started
        // Only verbose error messages contain the SQLSTATE of a failed login.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        PQsetNoticeReceiver(
            handle,
            { context, notice in
                if let context { Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue().note(notice) }
            },
            Unmanaged.passUnretained(warnings).toOpaque())
    }

    deinit {
        // A child process must not close its copy of the connection, because that would end the parent's session.
        guard process == getpid() else { return }
        PQfinish(handle)
        // Sends libpq's last message, which ends the session.
        turn.withLock { $0.wire?.carryOut() }
    }

    /// Waits until the connection is established with a server of the requested kind, such as a primary.
    func connect(until deadline: Deadline) throws(PostgresError) {
        guard try goOn(until: deadline) else { throw .timedOut }
    }

    /// Continues to connect. Returns false if the deadline passes first. The caller can then call this method again.
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

    /// Inserts a ``Wire`` between libpq and the server once connected, and a new one if libpq changes the server.
    private func layWire(_ session: inout Session) throws(PostgresError) {
        let isReached = ![CONNECTION_STARTED, CONNECTION_NEEDED].contains(PQstatus(handle))
        if !isReached {
            session.wire = nil
        } else if session.wire == nil {
            session.wire = try Wire(replacing: PQsocket(handle))
        }
    }

    /// Returns whether the server has closed the connection and all bytes from the server have been read.
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

    /// Passes libpq the bytes that have arrived from the server.
    func receive(_ session: inout Session) throws(PostgresError) {
        if vault_bytes_waiting(PQsocket(handle)) == 0 { try session.wire?.carryIn() }
        guard PQconsumeInput(handle) == 1 else { throw failure(.lost) }
        session.wire?.carryOut()
    }

    /// Wipes the password, which an established connection no longer needs.
    private func wipePassword() {
        guard let password = PQpass(handle) else { return }
        let count = strlen(password)
        // If there is no password, the pointer refers to a constant, which must not be overwritten.
        if count > 0 { explicit_bzero(password, count) }
    }

    func checkProcess() throws(PostgresError) {
        guard process == getpid() else { throw PostgresError(.notConnected, "the parent process owns the connection") }
    }

    /// Whether the connection is intact, with neither an open transaction nor unread bytes. Unread bytes may be the
    /// message with which the server ends the session.
    var isIdle: Bool {
        guard process == getpid() else { return false }
        return turn.withLock { session in
            PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE
                && !isReady(session, for: Int16(POLLIN), until: .now)
        }
    }

    /// Whether the connection is intact and has an open transaction in which no statement has failed.
    var isInTransaction: Bool {
        guard process == getpid() else { return false }
        return turn.withLock { _ in PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_INTRANS
        }
    }

    var host: ConnectionPool.Host {
        let isStandby = PQparameterStatus(handle, "in_hot_standby").map { String(cString: $0) == "on" } ?? false
        return ConnectionPool.Host(name: "\(text(PQhost(handle))):\(text(PQport(handle)))", isStandby: isStandby)
    }

    enum Encryption {
        /// The server has proved its identity by its TLS certificate or its Kerberos ticket.
        case certificate, ticket
        /// The server is on this machine, so the connection needs no protection.
        case local(hasTLS: Bool)
        /// TLS is used, but the server has not proved its identity. The associated value is the connection's `sslmode`.
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

    /// Waits until the server's socket or `descriptor` is readable. Returns whether the server has sent a notification.
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

    /// Returns whether the connection becomes ready in time. libpq's calls and the server's commits have no timeout.
    private func isReady(_ session: borrowing Session, for events: Int16, until deadline: Deadline) -> Bool {
        // If the `Wire` has passed libpq bytes that libpq has not read yet, there is no need to wait for the server.
        if events & Int16(POLLIN) != 0, vault_bytes_waiting(PQsocket(handle)) > 0 { return true }
        while true {
            let milliseconds = deadline.millisecondsLeft
            var descriptor = pollfd(fd: socket(of: session) ?? PQsocket(handle), events: events, revents: 0)
            if poll(&descriptor, 1, Int32(clamping: max(0, milliseconds))) > 0 { return true }
            guard milliseconds > 0 else { return false }
        }
    }
}

/// Returns libpq's code for a field of an error report (PostgreSQL's documentation, 34.3.1).
func fieldCode(_ character: Character) -> Int32 { Int32(character.asciiValue ?? 0) }

/// A flag that is set when the server sends a warning, for example if a commit's wait for the standby was cancelled.
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
