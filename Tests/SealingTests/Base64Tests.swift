import FoundationEssentials
import Sealing
import TestSupport
import Testing

@Suite("Base64 digits")
struct Base64Tests {
    private func encode(_ bytes: [UInt8]) throws -> String {
        var text = [UInt8](repeating: 0xff, count: Base64.digits(of: bytes.count) + 1)
        try bytes.withUnsafeBytes { bytes in
            try text.withUnsafeMutableBytes { try Base64.encode(bytes, into: $0) }
        }
        try #require(text.last == 0)
        return String(decoding: text.dropLast(), as: UTF8.self)
    }

    private func decode(_ text: String, size: Int, padding: Base64.Padding = .none) -> [UInt8]? {
        decode(Array(text.utf8), size: size, padding: padding)
    }

    private func decode(_ text: [UInt8], size: Int, padding: Base64.Padding = .none) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: size)
        let isValid = text.withUnsafeBytes { text in
            bytes.withUnsafeMutableBytes { Base64.decode(text, padding: padding, into: $0) }
        }
        return isValid ? bytes : nil
    }

    @Test func areTheUsualOnesWithAndWithoutPadding() throws {
        var random = SeededGenerator(1)
        for count in 0...100 {
            let bytes = random.bytes(count)
            let padded = Data(bytes).base64EncodedString()
            let text = String(padded.prefix { $0 != "=" })
            #expect(try encode(bytes) == text)
            #expect(Base64.size(ofDigits: text.utf8.count) == count)
            #expect(decode(text, size: count) == bytes)
            #expect(decode(padded, size: count, padding: .equalSigns) == bytes)
        }
    }

    @Test func thatAreNoneAreRefused() {
        let digits = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for byte in UInt8.min...UInt8.max {
            for index in 0..<4 {
                var text = Array("QUJD".utf8)
                text[index] = byte
                #expect((decode(text, size: 3) != nil) == digits.contains(byte), "\(byte) at \(index)")
            }
        }
    }

    @Test(arguments: [
        ("QUI=", 2), ("QUI", 1), ("QUI", 3), ("QUJ", 2), ("QV", 1), ("Q", 0), ("Q", 1), ("QUJD\n", 3), ("QU-_", 3),
        (" QUJD", 3), ("QU JD", 3), ("QUJD", 2), ("", 1),
    ])
    func thatAreNotCanonicalOrOfAnotherSizeAreRefused(_ text: String, _ size: Int) {
        #expect(decode(text, size: size) == nil)
    }

    @Test(arguments: ["QUI", "QUI==", "QUI=\n", "QUJ=", "QV==", "Q===", "="])
    func withWrongPaddingAreRefused(_ text: String) {
        #expect(decode(text, size: 2, padding: .equalSigns) == nil)
        #expect(decode(text, size: 1, padding: .equalSigns) == nil)
    }

    @Test func ofAWrongLengthAreAnErrorAndNotACrash() {
        for size in [0, 3, 5] {
            var text = [UInt8](repeating: 0, count: size)
            #expect(throws: SealingError(.length)) {
                try [65, 66].withUnsafeBytes { bytes in
                    try text.withUnsafeMutableBytes { try Base64.encode(bytes, into: $0) }
                }
            }
        }
        for digits in [-1, 1, 5, 65] { #expect(Base64.size(ofDigits: digits) == nil) }
    }
}
