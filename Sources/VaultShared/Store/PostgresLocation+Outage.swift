import LinuxSystem
import SealedLog
import Vault

// A server that cannot be reached. One that answers and refuses is not away: somebody has to act.

extension PostgresLocation {
    struct Outage {
        /// Until when it is not asked again.
        var end: Deadline?
        /// In a sentence; nil if nobody has asked.
        var reason: String?
        /// Whether the program was told: it is told once, and again if the server was back meanwhile.
        var isTold = false
    }

    /// How long programs that change nothing do not ask an absent server again, in seconds.
    static let outageSeconds = 30

    /// Whether the copy of this machine can stand in for the server.
    var hasStandIn: Bool { offline == .ifUnreachable && mirror?.head != nil }

    /// Returns whether the copy stands in for the server now, for reading. A change always asks.
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
            // Only what waits to be merged makes it worth a look.
            guard try pending() != nil else { return false }
            do throws(LogError) { _ = try currentHead() } catch {
                guard noteFailure(error) else { throw error }
                return true
            }
            return false
        }
    }

    /// Whether no server has answered of late.
    var isInOutage: Bool { outage.withLock { $0.end.map { $0 > .now } ?? false } }

    /// Returns whether the copy stands in for the server after an error.
    func noteFailure(_ error: LogError) -> Bool {
        guard hasStandIn, error.code == .unreachable else { return false }
        outage.withLock { outage in
            outage.end = Deadline(after: .seconds(PostgresLocation.outageSeconds))
            outage.reason = error.detail
        }
        mirror?.noteOutage()
        return true
    }

    /// Notes that the copy has stood in for the server.
    func noteStandIn() {
        guard let contact = mirror?.contact else { return }
        let (wasTold, reason) = outage.withLock { (exchange(&$0.isTold, with: true), $0.reason) }
        if !wasTold { notices.post(.offline(since: contact, reason: reason)) }
    }

    /// Notes that the server has answered.
    func notePresence() {
        guard offline == .ifUnreachable else { return }
        let wasAway = outage.withLock { exchange(&$0, with: Outage()).end != nil }
        if wasAway || !changesNothing { mirror?.forgetOutage() }
    }
}
