import LinuxSystem

/// An error reported by a server or by libpq. It contains neither passwords nor values.
struct PostgresError: Error {
    enum Reason: Hashable {
        /// No host of the location can be reached, or no reachable host is of the requested kind, such as a primary.
        case notConnected
        /// The login failed without an SQLSTATE, for example due to a wrong certificate or a missing password.
        case loginRefused
        /// The connection was lost. The statements that were sent may have been executed.
        case lost
        /// The server did not answer in time. The statements that were sent may still be executed.
        case timedOut
        /// The server refused a statement, with this SQLSTATE (PostgreSQL's documentation, appendix A).
        case refused(String)
        case malformed, absent
    }

    let reason: Reason
    /// The error message on one line, without a full stop. Characters that a terminal would interpret are replaced.
    let message: String

    init(_ reason: Reason, _ message: String) {
        self.reason = reason
        let line = message.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
        let shown = line.joined(separator: " ").unicodeScalars.reduce(into: "") { text, scalar in
            text.unicodeScalars.append(scalar != " " && scalar.isUnsafeOnTerminal ? "\u{FFFD}" : scalar)
        }
        self.message = shown.trimmingSuffix(while: { ".?: ".contains($0) })
    }

    /// Creates the error of a failed login.
    /// - Parameters:
    ///   - message: libpq's message at the highest verbosity: the SQLSTATE, the text, and a source code location.
    ///   - isRefusal: whether a server has answered.
    ///   - advice: a sentence that is added to a refusal.
    init(ofLogin message: String, isRefusal: Bool, _ advice: String? = nil) {
        var lines: [String] = []
        var state: String?
        for line in message.split(whereSeparator: \.isNewline) where !line.hasPrefix("LOCATION:") {
            let parts = line.split(separator: ": ", omittingEmptySubsequences: false)
            let index = parts.firstIndex { part in
                part.utf8.count == 6 && part.first == " "
                    && part.dropFirst().allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
            }
            if let index { state = String(parts[index].dropFirst()) }
            let said = index.map { Array(parts[..<$0] + parts[($0 + 1)...]) } ?? parts
            lines.append(said.joined(separator: ": "))
        }
        // libpq checks `target_session_attrs` (PostgreSQL's documentation, 34.1.2); its error has no SQLSTATE.
        let isOtherKind = ["session is ", " in hot standby mode"].contains { message.contains($0) }
        let reason: Reason = state.map { .refused($0) } ?? (isRefusal && !isOtherKind ? .loginRefused : .notConnected)
        self.init(reason, lines.joined(separator: "\n"))
        if reason == .loginRefused, let advice { self.init(reason, "\(self.message). \(advice)") }
    }

    static var timedOut: PostgresError { PostgresError(.timedOut, "the server did not answer in time") }

    /// The error of a transaction that cannot commit: a statement was refused, or the vault's row is not as expected.
    static var aborted: PostgresError { PostgresError(.refused("25P02"), "the transaction was aborted") }

    static var absent: PostgresError { PostgresError(.absent, "there is no such vault") }

    static func malformed(_ what: String) -> PostgresError {
        PostgresError(.malformed, "the server's answer lacks \(what)")
    }

    var state: String? { if case .refused(let state) = reason { state } else { nil } }

    /// Whether a retry on another connection, possibly to another host, may succeed.
    var isOfConnection: Bool {
        switch reason {
        case .lost, .timedOut: true
        // The server is shutting down or starting up, the connection has failed, or the server is a standby.
        case .refused(let state): state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006"
        case .notConnected, .loginRefused, .malformed, .absent: false
        }
    }

    /// Whether no server can currently be reached. A server that is starting up or shutting down counts as unreachable.
    var isOutage: Bool { reason == .notConnected || state?.hasPrefix("57P") ?? false }

    /// How useful the error is to users: 2 for a fault that must be fixed, 1 for an unreachable host, 0 for a timeout.
    private var weight: Int { reason == .timedOut ? 0 : isOutage ? 1 : 2 }

    /// Returns this error or another host's, whichever is more useful. If they are equally useful, returns this error.
    func orMoreUseful(_ other: PostgresError?) -> PostgresError { other.map { $0.weight > weight ? $0 : self } ?? self }

    /// Whether a retry of the same transaction may succeed, for example after a serialization failure, a deadlock, the
    /// loss of a prepared statement, or another thread's failure in the transaction.
    var isTransient: Bool { isUnprepared || state.map { $0.hasPrefix("40") || $0 == "25P02" } ?? false }
    /// Whether the server no longer has the prepared statement that it was to execute.
    var isUnprepared: Bool { state == "26000" }
    /// Whether a wait for a lock timed out, by its own limit or by one set for the server or the database role.
    var isLockTimeout: Bool { state == "55P03" || state == "57014" }
    /// Whether a compare-and-append failed: the log has another end than expected, or an extent at the offset.
    var isOvertaken: Bool { state == "23502" || state == "23505" }
    var isMissingFunction: Bool { state == "42883" }
    var isMissingSchema: Bool { state == "42P01" || state == "3F000" }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return String(rest)
    }
}
