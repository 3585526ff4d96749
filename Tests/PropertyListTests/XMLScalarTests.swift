import FoundationEssentials
import PropertyList
import Testing

@Suite("XML scalars")
struct XMLScalarTests {
    @Test(arguments: [
        ("1", 1), ("+007", 7), ("-0", 0), (" \n12\t", 12), ("- 7", -7), ("0x1F", 31), ("-0X10", -16), ("+0x0a", 10),
        ("18446744073709551615", Int128(UInt64.max)), ("-9223372036854775808", Int128(Int64.min)),
        ("0xffffffffffffffff", Int128(UInt64.max)), ("1<!-- c -->2", 12),
    ])
    func anIntegerIsReadAsCoreFoundationDoes(text: String, value: Int128) throws {
        #expect(try read(inside: "<integer>\(text)</integer>") == .integer(value))
    }

    @Test(arguments: ["", " ", "-", "0x", "1.0", "1 2", "--1", "1a", "0xg", "٣", "1e3"])
    func textThatIsNoIntegerIsRefused(text: String) {
        #expect(refusal(inside: "<integer>\(text)</integer>") == .malformed)
    }

    @Test(arguments: [
        "18446744073709551616", "-9223372036854775809", "0x10000000000000000", String(repeating: "9", count: 99),
    ])
    func anIntegerBeyond64BitsIsRefused(text: String) {
        #expect(refusal(inside: "<integer>\(text)</integer>") == .unsupported)
    }

    @Test func anIntegerBeyond64BitsIsNotWritten() {
        for value in [Int128(UInt64.max) + 1, Int128(Int64.min) - 1, .max, .min] {
            #expect(
                code { () throws(PropertyListError) in _ = try StoredValue.integer(value).xml() } == .unrepresentable)
            #expect(
                code { () throws(PropertyListError) in _ = try StoredValue.integer(value).binary() }
                    == .unrepresentable)
        }
    }

    @Test func nullHasNoForm() {
        for tree in [StoredValue.null, .array([.null]), .dictionary(["a": .null])] {
            #expect(code { () throws(PropertyListError) in _ = try tree.xml() } == .unrepresentable)
            #expect(code { () throws(PropertyListError) in _ = try tree.binary() } == .unrepresentable)
        }
    }

    @Test func bytesWithoutATypeAreWrittenAsData() throws {
        let tree = StoredValue.untyped(Data([0, 1, 2]))
        #expect(try StoredValue(parsing: tree.xml()) == .data(Data([0, 1, 2])))
        #expect(try StoredValue(parsing: tree.binary()) == .data(Data([0, 1, 2])))
    }

    @Test(arguments: [
        ("1", 1.0), ("1.0", 1), ("-0.0", -0.0), ("+1.5e3", 1_500), (" 5e-324 ", .leastNonzeroMagnitude),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("nan", .nan), ("NaN", .nan), ("inf", .infinity), ("+Infinity", .infinity), ("-infinity", -.infinity),
        ("-inf", -.infinity),
    ])
    func aRealIsReadToTheLastBit(text: String, value: Double) throws {
        #expect(try read(inside: "<real>\(text)</real>") == .real(value))
    }

    @Test(arguments: ["", "1,5", "0x1p3", "1e", "one", "1 2", "infinit", "nan(1)", "--1"])
    func textThatIsNoRealIsRefused(text: String) {
        #expect(refusal(inside: "<real>\(text)</real>") == .malformed)
    }

    @Test func aRealThatWouldBecomeInfiniteIsRefused() {
        #expect(refusal(inside: "<real>1e999</real>") == .unsupported)
    }

    @Test(arguments: [
        (0.1, "0.1"), (1, "1.0"), (-0.0, "-0.0"), (.leastNonzeroMagnitude, "5e-324"), (1e308, "1e+308"), (.nan, "nan"),
        (.infinity, "+infinity"), (-.infinity, "-infinity"), (0.1 + 0.2, "0.30000000000000004"),
    ])
    func aRealIsWrittenInItsShortestForm(value: Double, expected: String) throws {
        #expect(try text(.real(value)).contains("<real>\(expected)</real>"))
    }

    @Test func aRealStaysARealAndAnIntegerAnInteger() throws {
        #expect(try read(inside: "<real>1.0</real>") == .real(1))
        #expect(try read(inside: "<integer>1</integer>") == .integer(1))
        #expect(StoredValue.real(1) != .integer(1))
        #expect(StoredValue.real(0) != .real(-0.0))
    }

    @Test(arguments: [("", 0), ("AA==", 1), (" A A\n=\t= ", 1), ("AAAA", 3), ("<!-- c -->AAA=", 2)])
    func dataMayHoldWhiteSpace(text: String, count: Int) throws {
        #expect(try read(inside: "<data>\(text)</data>") == .data(Data(count: count)))
    }

    @Test(arguments: [
        "A", "AA", "AA=", "AAA", "AA===", "AAA=AAA=", "A===", "AAAA====", "=AAA", "AA==AA==", "A*==", "AA-_", "ÄÄÄÄ",
        "A=A=",
    ])
    func dataThatIsNotBase64IsRefused(text: String) {
        #expect(refusal(inside: "<data>\(text)</data>") == .malformed)
    }
}
