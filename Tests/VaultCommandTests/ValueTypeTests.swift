import FoundationEssentials
import Testing

@testable import Vault
@testable import VaultCommand

@Suite struct ValueTypeTests {
    private func stored(_ text: String, as type: ValueType) throws -> StoredValue {
        try StoredValue(type.value(SecretBytes(utf8: text), for: "n"), of: "n")
    }

    @Test(
        arguments: [
            (.bool, "true", .boolean(true)), (.bool, " false\n", .boolean(false)), (.int, "42", .integer(42)),
            (.int, "\t-9223372036854775808\n", .integer(Int128(Int64.min))), (.int, "+5", .integer(5)),
            (.int, "18446744073709551615", .integer(Int128(UInt64.max))), (.real, "2.50", .real(2.5)),
            (.real, "-1e-3\r\n", .real(-0.001)), (.real, "7", .real(7)), (.string, "", .string("")),
            (.string, " ü\n", .string(" ü\n")), (.data, " 1\n", .data(Data(" 1\n".utf8))),
            (.date, "2001-01-01T00:00:01Z", .date(Date(timeIntervalSinceReferenceDate: 1))),
            (.date, "2001-01-02", .date(Date(timeIntervalSinceReferenceDate: 86_400))),
            (.date, "2000-12-31T23:59:59.500Z\n", .date(Date(timeIntervalSinceReferenceDate: -0.5))),
            (.json, " []", .array([])), (.json, "[1, 2.5, null]\n", .array([.integer(1), .real(2.5), .null])),
            (.json, #"{"a": {"b": "c"}}"#, .dictionary(["a": .dictionary(["b": .string("c")])])),
        ] as [(ValueType, String, StoredValue)])
    func aTextBecomesAValueOfItsType(type: ValueType, text: String, value: StoredValue) throws {
        #expect(try stored(text, as: type) == value)
    }

    @Test(
        arguments: [
            (.bool, ["", "yes", "True", "1", "truefalse"]),
            (.int, ["", " ", "canary", "4.0", "1e3", "4 2", "0x10", "18446744073709551616", "\u{664}", "-"]),
            (.real, ["", "canary", "1,5", "1e999", "nan", "inf", "1.5 2"]),
            (
                .date,
                [
                    "", "canary", "2026-02-29", "2026-1-31", "2026-01-31T09:05Z", "2026-01-31T09:05:00", "2026-13-01",
                    "2026-01-31T24:00:00Z", "2026-01-31T09:05:60Z", "2026-01-31T09:05:00+01:00",
                    "2026-01-31T09:05:00.1Z", "2026-01-31T09:05:001", "2026-01-31T09:05:00+",
                    "99999-01-01", "-001-01-01", "2026_01_31", "\u{0662}026-01-3",
                ]
            ),
            (
                .json,
                [
                    "", "canary", "1", "null", #""canary""#, "[canary]", #"{"canary": 1, "canary": 2}"#, "[1] canary",
                    "[99999999999999999999]", String(repeating: "[", count: 200) + String(repeating: "]", count: 200),
                ]
            ),
        ] as [(ValueType, [String])])
    func anotherTextIsRefusedWithTheFormAndNeverShown(type: ValueType, texts: [String]) throws {
        for text in texts {
            let error = try #require(throws: CommandError.self) { _ = try stored(text, as: type) }
            #expect(throws: error) { try type.check(SecretBytes(utf8: text)) }
            #expect(error.exit == .usage)
            #expect(
                error.message.hasPrefix(
                    "The value does not have the type \(type.rawValue); nothing was stored. Write "))
            #expect(!error.message.contains("canary"))
        }
    }

    @Test func bytesThatAreNotUTF8AreDataAndNoOtherType() throws {
        for type in ValueType.allCases where type != .data {
            #expect(throws: CommandError.self) { try type.check(SecretBytes(copying: [0x31, 0xff])) }
        }
        try ValueType.data.check(SecretBytes(copying: [0x31, 0xff]))
    }

    private func shown(_ value: StoredValue) throws -> String? {
        try ValueText.shown(SealableValue(value, for: "n"), of: "n").unsafeString()
    }

    @Test(
        arguments: [
            (.boolean(true), "true"), (.integer(-1), "-1"), (.real(2), "2.0"), (.string("s"), "s"), (.null, "null"),
            (.untyped(Data("u".utf8)), "u"),
            (.date(Date(timeIntervalSinceReferenceDate: 0.5)), "2001-01-01T00:00:00.500Z"),
            (.date(Date(timeIntervalSinceReferenceDate: 1e300)), "1e+300"),
            (.date(Date(timeIntervalSinceReferenceDate: .nan)), "nan"),
            (.date(Date(timeIntervalSince1970: Double(Int64.min) / 1000)), "-9.223373015161976e+15"),
            (
                .array([
                    .date(Date(timeIntervalSinceReferenceDate: 0)), .data(Data([1])), .real(-.infinity), .real(.nan),
                ]),
                #"["2001-01-01T00:00:00.000Z","AQ==","-inf","nan"]"#
            ),
            (
                .dictionary(["b": .integer(Int128(UInt64.max)), "a/": .integer(Int128(Int64.min))]),
                #"{"a/":-9223372036854775808,"b":18446744073709551615}"#
            ),
        ] as [(StoredValue, String)])
    func aValueIsShownAsText(value: StoredValue, text: String) throws {
        #expect(try shown(value) == text)
    }

    @Test(arguments: [(ValueType.date, "1999-02-28T23:59:59.999Z"), (.json, #"{"a":[1,true,null,"ü"]}"#), (.int, "7")])
    func whatIsShownCanBeSetAgain(type: ValueType, text: String) throws {
        #expect(try shown(stored(text, as: type)) == text)
    }

    @Test func aValueOfALaterVersionIsWrittenAsItIs() throws {
        let value = SealableValue(kind: Keychain.ValueKind(rawValue: 17), bytes: try SecretBytes(utf8: "later"))
        #expect(try ValueText.shown(value, of: "n").unsafeString() == "later")
    }
}
