import LinuxSystem
import SealedLog
import Vault

// The handling of an unreachable server. One that answers and refuses is not unreachable: its fault must be fixed.

extension PostgresLocation {
    struct Outage {
        /// The time until which the server is not contacted again.
        var end: Deadline?
        /// The reason as a sentence; nil if this process has not tried the server.
        var reason: String?
        /// Whether the program was notified. It is notified once, and again if the server was back meanwhile.
        var isNotified = false
    }

    /// The number of seconds for which programs that change nothing do not try an unreachable server again.
    static let outageSeconds = 30

    /// Whether this machine's copy can replace the server.
    var hasStandIn: Bool { offline == .ifUnreachable && mirror?.head != nil }

    /// Returns whether the copy replaces the server now, for reading. A change always tries the server.
    func isOffline() throws(LogError) -> Bool {
        switch offline {
        case .never: return false
        case .always: return true
        case .ifUnreachable:
            if isInOutage { return true }
            if changesNothing, hasStandIn, let seconds = mirror?.outageAge, seconds < PostgresLocation.outageSeconds {
                outage.withLock { $0.end = Deadline(after: .seconds(PostgresLocation.outageSeconds - seconds)) }
                return true
            }
            // The server is tried only because changes wait to be merged.
            guard try pending() != nil else { return false }
            do throws(LogError) { _ = try currentHead() } catch {
                guard noteFailure(error) else { throw error }
                return true
            }
            return false
        }
    }

    /// Whether no server has answered recently.
    var isInOutage: Bool { outage.withLock { $0.end.map { $0 > .now } ?? false } }

    /// Records an error. Returns whether the copy replaces the server because of it.
    func noteFailure(_ error: LogError) -> Bool {
        guard hasStandIn, error.code == .unreachable else { return false }
        outage.withLock { outage in
            outage.end = Deadline(after: .seconds(PostgresLocation.outageSeconds))
            outage.reason = error.detail
        }
        mirror?.noteOutage()
        return true
    }

    func noteStandIn() {
        guard let contact = mirror?.contact else { return }
        let (wasNotified, reason) = outage.withLock { (exchange(&$0.isNotified, with: true), $0.reason) }
        if !wasNotified { notices.post(.offline(since: contact, reason: reason)) }
    }

    func notePresence() {
        guard offline == .ifUnreachable else { return }
        let wasAway = outage.withLock { exchange(&$0, with: Outage()).end != nil }
        if wasAway || !changesNothing { mirror?.forgetOutage() }
    }
}
