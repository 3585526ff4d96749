import FoundationEssentials
import Vault

/// A value that stores have been known to change.
struct SampleValue: Sendable {
    let name: String
    let value: StoredValue
    /// Whether a store may have no form for it.
    let mayBeRefused: Bool

    private init(_ name: String, _ value: StoredValue, mayBeRefused: Bool = false) {
        self.name = name
        self.value = value
        self.mayBeRefused = mayBeRefused
    }

    /// Returns whether the value was read back. Bytes without a type may be read as data.
    func isKept(as read: StoredValue) -> Bool {
        if case .untyped(let bytes) = value, case .data(bytes) = read { return true }
        return read == value
    }

    static let all = scalars + reals + texts + bytes + dates + collections

    private static let scalars = [
        SampleValue("true", .boolean(true)),
        SampleValue("false", .boolean(false)),
        SampleValue("the integer 0", .integer(0)),
        SampleValue("the integer 1", .integer(1)),
        SampleValue("the integer -1", .integer(-1)),
        SampleValue("the smallest Int64", .integer(Int128(Int64.min))),
        SampleValue("the largest Int64", .integer(Int128(Int64.max))),
        SampleValue("the largest UInt64", .integer(Int128(UInt64.max))),
        SampleValue("null", .null, mayBeRefused: true),
    ]

    private static let reals = [
        SampleValue("the real number 0.0", .real(0)),
        SampleValue("the real number -0.0", .real(-0.0)),
        SampleValue("the real number 1.0", .real(1)),
        SampleValue("the real number 0.1", .real(0.1)),
        SampleValue("the real number 1e300", .real(1e300)),
        SampleValue("the smallest real number above 0", .real(.leastNonzeroMagnitude)),
        SampleValue("the largest real number", .real(.greatestFiniteMagnitude)),
        SampleValue("infinity", .real(.infinity), mayBeRefused: true),
        SampleValue("negative infinity", .real(-.infinity), mayBeRefused: true),
        SampleValue("NaN", .real(.nan), mayBeRefused: true),
    ]

    private static let texts = [
        SampleValue("the empty string", .string("")),
        SampleValue("a word", .string("word")),
        SampleValue("a string of spaces", .string("  ")),
        SampleValue("a string with spaces at its ends", .string(" a ")),
        SampleValue("a string with markup", .string("<a href=\"x\">&amp;]]></a>'")),
        SampleValue("a string that looks like a number", .string("007")),
        SampleValue("a string that looks like a boolean", .string("true")),
        SampleValue("a string with newlines and tabs", .string("a\nb\tc\n")),
        SampleValue("a string with \\r\\n", .string("a\r\nb\rc"), mayBeRefused: true),
        SampleValue("a string with the character U+0000", .string("a\0b"), mayBeRefused: true),
        SampleValue("a string with control characters", .string("\u{1}\u{1b}[0m\u{7f}\u{85}"), mayBeRefused: true),
        SampleValue("a string with the character U+FFFE", .string("a\u{FFFE}"), mayBeRefused: true),
        SampleValue("a string with a byte order mark", .string("\u{FEFF}a"), mayBeRefused: true),
        SampleValue("an accented letter in one character", .string("\u{e9}")),
        SampleValue("an accented letter in two characters", .string("e\u{301}")),
        SampleValue("a string with emoji", .string("👩‍👩‍👧‍👦🏳️‍🌈")),
        SampleValue("a string of 1 MiB", .string(String(repeating: "0123456789abcdef", count: 65_536))),
    ]

    private static let bytes = [
        SampleValue("empty data", .data(Data())),
        SampleValue("data of all bytes", .data(Data(0...255))),
        SampleValue("data that is text", .data(Data("text".utf8))),
        SampleValue("data of 1 MiB", .data(Data(repeating: 0xa5, count: 1 << 20))),
        SampleValue("bytes without a type", .untyped(Data("text".utf8))),
    ]

    private static let dates = [
        SampleValue("the date 2001-01-01", .date(Date(timeIntervalSinceReferenceDate: 0))),
        SampleValue(
            "a date with a fraction of a second", .date(Date(timeIntervalSinceReferenceDate: 700_000_000.123_456))),
        SampleValue("a date before 1970", .date(Date(timeIntervalSince1970: -1_000_000_000))),
        SampleValue(
            "a date after the year 9999", .date(Date(timeIntervalSinceReferenceDate: 1e12)), mayBeRefused: true),
        SampleValue("Date.distantPast", .date(.distantPast)),
        SampleValue("Date.distantFuture", .date(.distantFuture)),
    ]

    private static let collections = [
        SampleValue("an empty array", .array([])),
        SampleValue("an array of empty collections", .array([.array([]), .dictionary([:]), .string("")])),
        SampleValue("an array of several types", .array([.integer(1), .real(1), .boolean(true), .string("1")])),
        SampleValue("an array with null in it", .array([.null, .integer(1), .null]), mayBeRefused: true),
        SampleValue("an empty dictionary", .dictionary([:])),
        SampleValue("a dictionary with odd keys", .dictionary(["": .integer(1), "a.b/c d": .integer(2), "é": .null])),
        SampleValue(
            "a dictionary of collections",
            .dictionary(["a": .array([.dictionary(["b": .data(Data([0]))])]), "c": .dictionary(["d": .real(-0.0)])])),
        SampleValue(
            "arrays nested 100 levels deep", (0..<100).reduce(StoredValue.integer(1)) { inner, _ in .array([inner]) }),
        SampleValue("an array of 10,000 elements", .array((0..<10_000).map { .integer($0) })),
    ]
}
