import Sealing
import Testing

@Suite("Hex digits")
struct HexadecimalTests {
    private let all = Array(UInt8.min...UInt8.max)

    private func encode(_ bytes: [UInt8]) throws -> String {
        var digits = [UInt8](repeating: 0xff, count: bytes.count * 2 + 1)
        try bytes.withUnsafeBytes { bytes in
            try digits.withUnsafeMutableBytes { try Hexadecimal.encode(bytes, into: $0) }
        }
        try #require(digits.last == 0)
        return String(decoding: digits.dropLast(), as: UTF8.self)
    }

    private func decode(_ digits: [UInt8], size: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: size)
        let isValid = digits.withUnsafeBytes { digits in
            bytes.withUnsafeMutableBytes { Hexadecimal.decode(digits, into: $0) }
        }
        return isValid ? bytes : nil
    }

    @Test func ofEveryByteAreTheUsualOnes() throws {
        let usual = all.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(try encode(all) == usual)
        for count in 0...64 { #expect(Hexadecimal.string(of: Array(all.suffix(count))) == usual.suffix(count * 2)) }
        #expect(decode(Array(usual.utf8), size: 256) == all)
        #expect(decode(Array(usual.uppercased().utf8), size: 256) == all)
    }

    @Test func thatAreNoneAreRefused() {
        let digits = Set("0123456789abcdefABCDEF".utf8)
        for byte in all {
            #expect((decode([byte, UInt8(ascii: "0")], size: 1) != nil) == digits.contains(byte))
            #expect((decode([UInt8(ascii: "0"), byte], size: 1) != nil) == digits.contains(byte))
        }
    }

    @Test func ofTheWrongNumberAreRefused() {
        #expect(decode(Array("00".utf8), size: 2) == nil)
        #expect(decode(Array("0000".utf8), size: 1) == nil)
        #expect(decode(Array("000".utf8), size: 1) == nil)
        #expect(decode([], size: 0) == [])
        var digits = [UInt8](repeating: 0, count: 4)
        #expect(throws: SealingError(.length)) {
            try [1, 2].withUnsafeBytes { bytes in
                try digits.withUnsafeMutableBytes { try Hexadecimal.encode(UnsafeRawBufferPointer(bytes), into: $0) }
            }
        }
    }
}
