import FoundationEssentials
import Vault

/// A value that some stores are known to alter.
struct SampleValue: Sendable {
    let name: String
    let value: StoredValue
    let mayBeRefused: Bool

    /// Returns whether the value that was read back counts as equal: a store may return untyped bytes as data.
    func isKept(as read: StoredValue) -> Bool {
        if case .untyped(let bytes) = value, case .data(bytes) = read { return true }
        return read == value
    }

    static let all =
        [scalars, texts, bytesAndDates, collections].joined().map {
            SampleValue(name: $0.key, value: $0.value, mayBeRefused: false)
        } + oddities.map { SampleValue(name: $0.key, value: $0.value, mayBeRefused: true) }

    private static let scalars: KeyValuePairs<String, StoredValue> = [
        "true": .boolean(true), "false": .boolean(false), "the integer 0": .integer(0), "the integer 1": .integer(1),
        "the integer -1": .integer(-1), "the smallest Int64": .integer(Int128(Int64.min)),
        "the largest Int64": .integer(Int128(Int64.max)), "the largest UInt64": .integer(Int128(UInt64.max)),
        "the real number 0.0": .real(0), "the real number -0.0": .real(-0.0), "the real number 1.0": .real(1),
        "the real number 0.1": .real(0.1), "the real number 1e300": .real(1e300),
        "the smallest real number above 0": .real(.leastNonzeroMagnitude),
        "the largest real number": .real(.greatestFiniteMagnitude),
    ]

    private static let texts: KeyValuePairs<String, StoredValue> = [
        "the empty string": .string(""), "a word": .string("word"), "a string of spaces": .string("  "),
        "a string with spaces at its ends": .string(" a "),
        "a string with markup": .string("<a href=\"x\">&amp;]]></a>'"),
        "a string that looks like a number": .string("007"), "a string that looks like a boolean": .string("true"),
        "a string with newlines and tabs": .string("a\nb\tc\n"),
        "an accented letter in one character": .string("\u{e9}"),
        "an accented letter in two characters": .string("e\u{301}"),
        "a string with emoji": .string("👩‍👩‍👧‍👦🏳️‍🌈"),
        "a string of 1 MiB": .string(String(repeating: "0123456789abcdef", count: 65_536)),
    ]

    private static let bytesAndDates: KeyValuePairs<String, StoredValue> = [
        "empty data": .data(Data()), "data with every byte value": .data(Data(0...255)),
        "data that is text": .data(Data("text".utf8)), "data of 1 MiB": .data(Data(repeating: 0xa5, count: 1 << 20)),
        "bytes without a type": .untyped(Data("text".utf8)),
        "the date 2001-01-01": .date(Date(timeIntervalSinceReferenceDate: 0)),
        "a date with a fraction of a second": .date(Date(timeIntervalSinceReferenceDate: 700_000_000.123_456)),
        "a date before 1970": .date(Date(timeIntervalSince1970: -1_000_000_000)),
        "Date.distantPast": .date(.distantPast), "Date.distantFuture": .date(.distantFuture),
    ]

    private static let collections: KeyValuePairs<String, StoredValue> = [
        "an empty array": .array([]), "an empty dictionary": .dictionary([:]),
        "an array of empty collections": .array([.array([]), .dictionary([:]), .string("")]),
        "an array of mixed types": .array([.integer(1), .real(1), .boolean(true), .string("1")]),
        "a dictionary with unusual keys": .dictionary(["": .integer(1), "a.b/c d": .integer(2), "é": .null]),
        "a dictionary of collections":
            .dictionary(["a": .array([.dictionary(["b": .data(Data([0]))])]), "c": .dictionary(["d": .real(-0.0)])]),
        "arrays nested 100 levels deep": (0..<100).reduce(.integer(1)) { inner, _ in .array([inner]) },
        "an array of 10,000 elements": .array((0..<10_000).map { .integer($0) }),
    ]

    private static let oddities: KeyValuePairs<String, StoredValue> = [
        "null": .null, "infinity": .real(.infinity), "negative infinity": .real(-.infinity), "NaN": .real(.nan),
        "a string with \\r\\n": .string("a\r\nb\rc"), "a string with the character U+0000": .string("a\0b"),
        "a string with control characters": .string("\u{1}\u{1b}[0m\u{7f}\u{85}"),
        "a string with the character U+FFFE": .string("a\u{FFFE}"),
        "a string with a byte order mark": .string("\u{FEFF}a"),
        "a date after the year 9999": .date(Date(timeIntervalSinceReferenceDate: 1e12)),
        "an array with null in it": .array([.null, .integer(1), .null]),
    ]
}
