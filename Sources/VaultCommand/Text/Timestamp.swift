import FoundationEssentials
import Glibc

enum Timestamp {
    /// UTC to the millisecond, as the vault keeps times: `2026-01-31T09:05:00.120Z`.
    static func text(_ date: Date) -> String {
        let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded())
        let (seconds, fraction) = milliseconds.quotientAndRemainderRoundingDown(by: 1000)
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "unknown" }
        let day = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
        let clock = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
        return "\(day)T\(clock).\(padded(Int32(fraction), to: 3))Z"
    }

    private static func padded(_ number: Int32, to width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int {
    fileprivate func quotientAndRemainderRoundingDown(by divisor: Int) -> (Int, Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
