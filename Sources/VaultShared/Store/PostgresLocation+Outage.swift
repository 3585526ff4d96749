import LinuxSystem
import SealedFormat
import Vault

// Handles unreachable servers. A server that refuses a call counts as reachable, because the refusal must be reported.

extension PostgresLocation {
    struct Outage {
        /// The time before which reads by this process do not contact the server.
        var end: Deadline?
        /// The reason for the outage, as a sentence; nil if another process recorded it, since only the time is shared.
        var reason: String?
        /// Whether a notice has been posted about this outage.
        var isNotified = false
    }

    /// The number of seconds during which an unreachable server is not tried again for reads.
    static let outageSeconds = 30

    /// Whether the local copy can replace an unreachable server.
    var hasStandIn: Bool { offline == .ifUnreachable && mirror?.head != nil }

    /// Returns whether reads currently use the local copy. Unless ``offline`` is `always`, changes try the server.
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
            // Without pending changes, there is nothing to merge, so the server is not contacted here.
            guard try pending() != nil else { return false }
            do throws(LogError) { _ = try currentHead() } catch {
                guard noteFailure(error) else { throw error }
                return true
            }
            return false
        }
    }

    /// Whether a recent attempt to reach a server has failed.
    var isInOutage: Bool { outage.withLock { $0.end.map { $0 > .now } ?? false } }

    /// Returns whether to use the local copy instead of the server after `error`. If so, records an outage.
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
