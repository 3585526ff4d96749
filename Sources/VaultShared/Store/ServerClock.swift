import LinuxSystem
import SealedFormat
import Vault

/// How the server's clock differs. A server may lie, so only dropping history and merging use it, and only if earlier.
final class ServerClock: Sendable {
    private let found = Mutex<Int64?>(nil)
    private let notices = NoticeBoard()
    private let isNotified = Atomic(false)

    /// How far this machine's clock is ahead of the server's, in milliseconds; nil if that is unknown.
    var difference: Int64? { found.withLock { $0 } }

    /// The server's current time, in milliseconds since 1970; nil if it is unknown.
    var time: UInt64? {
        difference.map { difference in
            let (time, overflows) = Int64(clamping: Clock.milliseconds).subtractingReportingOverflow(difference)
            return overflows ? .max : UInt64(max(time, 0))
        }
    }

    /// Reads the server's time from a response that has just arrived, if the response contains it.
    func note(_ rows: Rows, _ column: Int32) {
        guard rows.count > 0, let time = try? rows.number(0, column) else { return }
        note(Int64(clamping: time), at: Int64(clamping: Clock.milliseconds))
    }

    func note(_ time: Int64, at now: Int64) {
        let difference = now - max(time, 0)
        found.withLock { $0 = difference }
        // Posts only one notice, although the difference varies with each response.
        guard abs(difference) > ClockDifference.tolerance, !isNotified.exchange(true, ordering: .relaxed)
        else { return }
        notices.post(.clockDiffers(milliseconds: difference))
    }

    func takeNotices() -> [Notice] { notices.take() }
}
