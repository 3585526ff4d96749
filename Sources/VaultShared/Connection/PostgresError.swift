import LinuxSystem
import SealedLog

/// What a server or libpq has refused. It holds neither a password nor a value.
struct PostgresError: Error {
    enum Reason: Hashable {
        /// No host of the place could be reached, or none is what was asked for, such as the primary.
        case notConnected
        /// A server was reached, and it or libpq has refused the login: the certificate, the password.
        case loginRefused
        /// The connection was lost. What was in flight may have been carried out.
        case lost
        /// The server did not answer in time. What was in flight may still be carried out.
        case timedOut
        /// The server refused a statement, with an SQLSTATE (PostgreSQL's documentation, appendix A).
        case refused(String)
        /// The server's answer is not what was asked for.
        case malformed
        /// There is no such vault.
        case absent
    }

    let reason: Reason
    /// In the server's words, on one line, without a full stop. A terminal obeys nothing of them.
    let words: String

    init(_ reason: Reason, _ words: String) {
        self.reason = reason
        let line = words.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
        let shown = line.joined(separator: " ").unicodeScalars.reduce(into: "") { text, scalar in
            text.unicodeScalars.append(scalar != " " && scalar.isUnsafeOnTerminal ? "\u{FFFD}" : scalar)
        }
        self.words = shown.trimmingSuffix(while: { ".?: ".contains($0) })
    }

    /// - Parameters:
    ///   - message: libpq's, at the highest verbosity: before the words of a server it has their SQLSTATE, and behind
    ///     them a line that says where in the server's source they are.
    ///   - isRefusal: whether something has answered.
    ///   - advice: what is told with a refusal.
    init(ofLogin message: String, isRefusal: Bool, _ advice: String? = nil) {
        var (lines, state) = ([String](), String?.none)
        for line in message.split(whereSeparator: \.isNewline) where !line.hasPrefix("LOCATION:") {
            let parts = line.split(separator: ": ", omittingEmptySubsequences: false)
            let index = parts.firstIndex { part in
                part.utf8.count == 6 && part.first == " "
                    && part.dropFirst().allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
            }
            if let index { state = String(parts[index].dropFirst()) }
            let said = index.map { Array(parts[..<$0] + parts[($0 + 1)...]) } ?? parts
            lines.append(said.dropFirst().reduce(String(said[0])) { "\($0): \($1)" })
        }
        // libpq looks at the session after the login (34.1.2, "target_session_attrs"), and tells that in words alone.
        let isOtherKind = ["session is ", " in hot standby mode"].contains { message.contains($0) }
        let reason: Reason =
            state.map { .refused($0) } ?? (isRefusal && !isOtherKind ? .loginRefused : .notConnected)
        self.init(reason, lines.reduce("") { $0.isEmpty ? $1 : "\($0)\n\($1)" })
        if reason == .loginRefused, let advice { self.init(reason, "\(words). \(advice)") }
    }

    static var timedOut: PostgresError { PostgresError(.timedOut, "the server did not answer in time") }

    /// An earlier statement of the transaction was refused.
    static var aborted: PostgresError { PostgresError(.refused("25P02"), "the transaction was aborted") }

    static var absent: PostgresError { PostgresError(.absent, "there is no such vault") }

    static func malformed(_ what: String) -> PostgresError {
        PostgresError(.malformed, "the server's answer lacks \(what)")
    }
}

extension PostgresError {
    var state: String? { if case .refused(let state) = reason { state } else { nil } }

    /// Whether another connection, perhaps to another host, may do better.
    var isOfConnection: Bool {
        switch reason {
        case .lost, .timedOut: true
        // The server shuts down or starts up; it has become, or still is, a standby.
        case .refused(let state): state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006"
        case .notConnected, .loginRefused, .malformed, .absent: false
        }
    }

    /// Whether no server can be reached, for now: also one that starts up or shuts down is away.
    var isOutage: Bool { reason == .notConnected || state?.hasPrefix("57P") ?? false }

    /// What somebody has to mend tells more than that a host is away, and that more than its silence.
    private var weight: Int { reason == .timedOut ? 0 : isOutage ? 1 : 2 }

    /// Returns this error, of one host, or the one of another host if that tells more.
    func orWhatTellsMore(_ other: PostgresError?) -> PostgresError {
        other.map { $0.weight > weight ? $0 : self } ?? self
    }

    /// Whether the same transaction may succeed if it is tried again: a serialization failure, a deadlock, another
    /// thread's statement in it that was refused.
    var isTransient: Bool { isUnprepared || state.map { $0.hasPrefix("40") || $0 == "25P02" } ?? false }
    /// Whether a statement is not prepared that was.
    var isUnprepared: Bool { state == "26000" }
    /// Whether a lock was not free in time, or a limit of the role's has ended the waiting for one.
    var isLockTimeout: Bool { state == "55P03" || state == "57014" }
    /// Whether the compare of a compare-and-append did not hold: no row to append to, or one in the record's place.
    var isOvertaken: Bool { state == "23502" || state == "23505" }
    var isMissingFunction: Bool { state == "42883" }
    /// Whether there are no tables for vaults.
    var isMissingSchema: Bool { state == "42P01" || state == "3F000" }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return String(rest)
    }
}
