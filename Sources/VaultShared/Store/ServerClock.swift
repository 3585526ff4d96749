import LinuxSystem
import SealedLog
import Vault

/// What the server's clock said, compared with this machine's. A server may lie: nothing that is stored follows it.
final class ServerClock: Sendable {
    private let found = Mutex<Int64?>(nil)
    private let notices = NoticeBoard()
    private let isTold = Atomic(false)

    /// How far this machine's clock is ahead, in milliseconds; nil if the server was not asked.
    var difference: Int64? { found.withLock { $0 } }

    /// By the server's clock now, in milliseconds since 1970.
    var time: UInt64? {
        difference.map { difference in
            let (time, overflows) = Int64(clamping: Clock.milliseconds).subtractingReportingOverflow(difference)
            return overflows ? .max : UInt64(max(time, 0))
        }
    }

    /// Takes the time from an answer that has just come, if it has one.
    func note(_ rows: Rows, _ column: Int32) {
        guard rows.count > 0, let time = try? rows.number(0, column) else { return }
        note(Int64(clamping: time), at: Int64(clamping: Clock.milliseconds))
    }

    func note(_ time: Int64, at now: Int64) {
        let difference = now - max(time, 0)
        found.withLock { $0 = difference }
        // Once is enough: each look at the row brings another difference.
        guard abs(difference) > ClockDifference.tolerance, !isTold.exchange(true, ordering: .relaxed) else { return }
        notices.post(.clockDiffers(milliseconds: difference))
    }

    func takeNotices() -> [Notice] { notices.take() }
}
