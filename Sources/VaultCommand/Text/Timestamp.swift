import FoundationEssentials
import Glibc

enum Timestamp {
    /// Returns UTC to the millisecond, the precision of the vault: `2026-01-31T09:05:00.120Z`.
    static func text(_ date: Date) -> String {
        var bytes: [UInt8] = []
        write(date) { bytes.append($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes the same digit by digit, without a string: a list of a million entries has two million times.
    static func write(_ date: Date, _ put: (UInt8) -> Void) {
        let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded())
        let (seconds, fraction) = milliseconds.quotientAndRemainderRoundingDown(by: 1000)
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil, (-1900..<8100).contains(parts.tm_year) else {
            return "unknown".utf8.forEach(put)
        }
        write(parts.tm_year + 1900, digits: 4, before: "-", put)
        write(parts.tm_mon + 1, digits: 2, before: "-", put)
        write(parts.tm_mday, digits: 2, before: "T", put)
        write(parts.tm_hour, digits: 2, before: ":", put)
        write(parts.tm_min, digits: 2, before: ":", put)
        write(parts.tm_sec, digits: 2, before: ".", put)
        write(Int32(fraction), digits: 3, before: "Z", put)
    }

    private static func write(
        _ number: Int32, digits: Int, before separator: Unicode.Scalar, _ put: (UInt8) -> Void
    ) {
        var divisor: Int32 = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            put(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
        put(UInt8(ascii: separator))
    }
}

extension Int {
    fileprivate func quotientAndRemainderRoundingDown(by divisor: Int) -> (Int, Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
