import CPostgres
import Formats
private import Glibc
import LinuxSystem

/// A connection to a server, over libpq (PostgreSQL's documentation, chapter 34).
///
/// Sendable although unchecked: once it is made, libpq's handle is used by the thread alone that has its turn.
final class PostgresConnection: @unchecked Sendable {
    struct Session {
        /// While it is not connected: what of its socket it waits for; then 0.
        var wanted = Int16(POLLOUT)
        var prepared = PreparedStatements()
    }

    let handle: OpaquePointer
    let warnings = Warnings()
    let turn = Mutex(Session())
    private let process = getpid()

    /// Begins to connect to a host. ``connect(until:)`` has to follow.
    init(beginning parameters: ConnectionParameters, with password: HeldSecret? = nil) throws(PostgresError) {
        let started = parameters.withPointers(and: password) { PQconnectStartParams($0, $1, 0) }
        guard let started else { throw PostgresError(.notConnected, "no memory") }
        handle = started
        PQsetNoticeReceiver(
            handle,
            { context, notice in
                if let context { Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue().note(notice) }
            },
            Unmanaged.passUnretained(warnings).toOpaque())
    }

    deinit {
        // A child process that closed its copy would end the parent's session.
        if process == getpid() { PQfinish(handle) }
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
                guard isReady(for: session.wanted, until: deadline) else { return false }
                switch PQconnectPoll(handle) {
                case PGRES_POLLING_OK:
                    PQsetnonblocking(handle, 1)
                    session.wanted = 0
                    wipePassword()
                case PGRES_POLLING_READING: session.wanted = Int16(POLLIN)
                case PGRES_POLLING_WRITING: session.wanted = Int16(POLLOUT)
                default: break
                }
            }
            guard session.wanted == 0 else { throw failure(.notConnected) }
            return true
        }
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
        return turn.withLock { _ in
            PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE
                && !isReady(for: Int16(POLLIN), until: .now)
        }
    }

    /// The host and port that it leads to.
    var host: String { "\(text(PQhost(handle))):\(text(PQport(handle)))" }

    func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

    // MARK: Notifications

    /// Waits until the server has something to tell, or another descriptor is readable. Returns whether there was a
    /// notification.
    func waitForNotification(or descriptor: Int32, milliseconds: Int32) throws(PostgresError) -> Bool {
        try turn.withLock { (_) throws(PostgresError) in
            var descriptors = [PQsocket(handle), descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
            guard PQconsumeInput(handle) == 1 else { throw failure(.lost) }
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

    func wait(for events: Int16, until deadline: Deadline) throws(PostgresError) {
        guard isReady(for: events, until: deadline) else { throw .timedOut }
    }

    /// Waits for the socket. Returns whether it is ready. libpq's own timeouts do not bound an answer, and the server's
    /// do not bound a commit.
    private func isReady(for events: Int16, until deadline: Deadline) -> Bool {
        while true {
            let milliseconds = deadline.millisecondsLeft
            var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
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
