import FoundationEssentials
import Glibc

enum Timestamp {
    /// Returns a time in UTC with milliseconds, the vault's precision, as in `2026-01-31T09:05:00.120Z`. Foundation's
    /// ISO 8601 style truncates the floating-point number, and would return `.119Z` in this example.
    static func text(_ date: Date) -> String {
        var bytes: [UInt8] = []
        write(date) { bytes.append($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Emits the bytes of ``text(_:)`` directly, because a list of a million entries contains two million timestamps.
    static func write(_ date: Date, _ put: (UInt8) -> Void) {
        guard let milliseconds = Int(exactly: (date.timeIntervalSince1970 * 1000).rounded()) else {
            return "unknown".utf8.forEach(put)
        }
        // Before 1970, `milliseconds` is negative, but the fraction of a second is always written as 0 to 999.
        let fraction = (milliseconds % 1000 + 1000) % 1000
        var time = milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil, (-1900..<8100).contains(parts.tm_year) else {
            return "unknown".utf8.forEach(put)
        }
        write(parts.tm_year + 1900, from: 1000, before: "-", put)
        write(parts.tm_mon + 1, from: 10, before: "-", put)
        write(parts.tm_mday, from: 10, before: "T", put)
        write(parts.tm_hour, from: 10, before: ":", put)
        write(parts.tm_min, from: 10, before: ":", put)
        write(parts.tm_sec, from: 10, before: ".", put)
        write(Int32(fraction), from: 100, before: "Z", put)
    }

    /// Parses a time in UTC in the form of ``text(_:)``, with or without the fraction, or a date without a time.
    /// Returns nil for any other text, and for an invalid date or time.
    static func date(_ text: String) -> Date? {
        let whole =
            switch text.utf8.count {
            case 10: text + "T00:00:00.000Z"
            case 20 where text.utf8.last == UInt8(ascii: "Z"): String(text.dropLast()) + ".000Z"
            default: text
            }
        let numbers = whole.split { !$0.isASCII || !$0.isNumber }.compactMap { Int32($0) }
        guard numbers.count == 7 else { return nil }
        var parts = tm()
        parts.tm_year = numbers[0] - 1900
        parts.tm_mon = numbers[1] - 1
        parts.tm_mday = numbers[2]
        parts.tm_hour = numbers[3]
        parts.tm_min = numbers[4]
        parts.tm_sec = numbers[5]
        let date = Date(timeIntervalSince1970: Double(timegm(&parts)) + Double(numbers[6]) / 1000)
        // timegm accepts an invalid date, such as a day past the end of a month, and returns a day of the next month.
        return self.text(date) == whole ? date : nil
    }

    /// Writes a number's digits, beginning with the place value `first`, and then the separator.
    private static func write(
        _ number: Int32, from first: Int32, before separator: Unicode.Scalar, _ put: (UInt8) -> Void
    ) {
        var divisor = first
        while divisor > 0 {
            put(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
        put(UInt8(ascii: separator))
    }
}
