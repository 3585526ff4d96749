import LinuxSystem
import SealedLog
import Vault

/// The server's clock compared with this machine's. A server may be malicious, so nothing that is stored depends on it.
final class ServerClock: Sendable {
    private let found = Mutex<Int64?>(nil)
    private let notices = NoticeBoard()
    private let isNotified = Atomic(false)

    /// The number of milliseconds by which this machine's clock is ahead; nil if the server's is unknown.
    var difference: Int64? { found.withLock { $0 } }

    /// The present time of the server's clock, in milliseconds since 1970.
    var time: UInt64? {
        difference.map { difference in
            let (time, overflows) = Int64(clamping: Clock.milliseconds).subtractingReportingOverflow(difference)
            return overflows ? .max : UInt64(max(time, 0))
        }
    }

    /// Takes the time from an answer that has just arrived, if it has one.
    func note(_ rows: Rows, _ column: Int32) {
        guard rows.count > 0, let time = try? rows.number(0, column) else { return }
        note(Int64(clamping: time), at: Int64(clamping: Clock.milliseconds))
    }

    func note(_ time: Int64, at now: Int64) {
        let difference = now - max(time, 0)
        found.withLock { $0 = difference }
        // One notice is enough: the difference varies with each answer.
        guard abs(difference) > ClockDifference.tolerance, !isNotified.exchange(true, ordering: .relaxed)
        else { return }
        notices.post(.clockDiffers(milliseconds: difference))
    }

    func takeNotices() -> [Notice] { notices.take() }
}
