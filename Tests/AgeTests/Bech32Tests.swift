import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import Age

@Suite("Bech32")
struct Bech32Tests {
    private func encode(_ data: [UInt8], prefix: String, _ letterCase: Bech32.LetterCase) throws -> String {
        var text = [UInt8](repeating: 0, count: Bech32.textSize(prefix: prefix, dataSize: data.count))
        try data.withRawBytes { data in
            try text.withMutableRawBytes { try Bech32.encode(data, prefix: prefix, letterCase, into: $0) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The valid texts of BIP 173 that stand for whole bytes.
    @Test(arguments: [
        ("A12UEL5L", "a", ""), ("a12uel5l", "a", ""),
        (
            "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
            "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio", ""
        ),
        (
            "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw", "abcdef",
            "00443214c74254b635cf84653a56d7c675be77df"
        ),
    ])
    func readsAndWritesThePublishedTexts(_ text: String, _ prefix: String, _ digits: String) throws {
        let decoded = try Array(text.utf8).withRawBytes { (text) throws(AgeError) in try Bech32.decode(text) }
        let readPrefix = decoded.prefix
        let letterCase = decoded.letterCase
        #expect(readPrefix == prefix)
        #expect(letterCase == (text == text.lowercased() ? .lower : .upper))
        let data = decoded.data.unsafeArray()
        #expect(Hexadecimal.string(of: data) == digits)
        #expect(try encode(data, prefix: prefix, letterCase) == text)
    }

    /// The invalid texts of BIP 173, as far as they are not only too long.
    @Test(arguments: [
        "pzry9x0s0muk", "1pzry9x0s0muk", "x1b4n0q5v", "li1dgmt3", "A1G7SGD8", "10a06t8", "1qzzfhee", "A12UEl5L",
        "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxx", "\u{20}1nwldj5", "\u{7F}1axkwrx", "de1lg7wt\u{ff}",
    ])
    func refusesThePublishedInvalidTexts(_ text: String) {
        #expect(throws: AgeError.self) {
            _ = try Array(text.utf8).withRawBytes { (text) throws(AgeError) in try Bech32.decode(text).data.count }
        }
    }

    /// One byte of ones, and the same with a bit, a group or nothing but a group too many.
    @Test func refusesBitsThatBelongToNoByte() throws {
        #expect(try encode([0xFF], prefix: "age", .lower) == "age1luyvfgxs")
        for text in ["age1lae6aamz", "age1luqrr2q7m", "age1qdd35qf"] {
            #expect(throws: AgeError(.malformed, "its padding bits are invalid")) {
                _ = try Array(text.utf8).withRawBytes { (text) throws(AgeError) in try Bech32.decode(text).data.count }
            }
        }
    }

    @Test func readsWhatItWrites() throws {
        var random = SeededGenerator(7)
        for count in 0..<150 {
            let data = random.bytes(count)
            let text = try encode(data, prefix: "age-plugin-x_y-", .upper)
            #expect(text == text.uppercased())
            let decoded = try Array(text.utf8).withRawBytes { (text) throws(AgeError) in try Bech32.decode(text) }
            #expect(decoded.data.unsafeArray() == data)
            let prefix = decoded.prefix
            #expect(prefix == "age-plugin-x_y-")
        }
    }

    @Test func aWrongLengthIsAnErrorAndNotACrash() {
        for size in [0, 9, 11] {
            var text = [UInt8](repeating: 0, count: size)
            #expect(throws: AgeError(.malformed, "a length out of bounds")) {
                try [UInt8]([1]).withRawBytes { data in
                    try text.withMutableRawBytes { try Bech32.encode(data, prefix: "a", .lower, into: $0) }
                }
            }
        }
    }
}
