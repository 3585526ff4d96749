import Sealing
import TestSupport
import Testing

@testable import SealedFormat

@Suite("Fields")
struct ByteCodingTests {
    private static let numbers: [UInt64] =
        [0, 1, 127, 128, 255, 16_383, 16_384, UInt64.max] + (0..<64).flatMap { [1 << $0, (1 << $0) &- 1] }

    private func varint(_ bytes: [UInt8]) throws -> UInt64 {
        var reader = ByteReader(bytes)
        let value = try reader.varint()
        try #require(reader.remaining == 0)
        return value
    }

    @Test func everyNumberHasOneFormAndIsReadBack() throws {
        for number in ByteCodingTests.numbers {
            var writer = ByteWriter()
            writer.varint(number)
            #expect(writer.count <= 10)
            #expect(try varint(writer.bytes) == number)
            // The same number with a redundant zero digit.
            var longer = writer.bytes
            longer[longer.count - 1] |= 0x80
            longer.append(0)
            #expect(throws: Malformed.self) { try varint(longer) }
        }
    }

    @Test func aNumberBeyond64BitsIsRefused() {
        let nine = [UInt8](repeating: 0xff, count: 9)
        #expect(throws: Malformed.self) { try varint(nine + [2]) }
        #expect(throws: Malformed.self) { try varint(nine + [0x7f]) }
        #expect(throws: Malformed.self) { try varint(nine + [0x81, 0]) }
        #expect(throws: Malformed.self) { try varint([UInt8](repeating: 0x80, count: 20)) }
        #expect(throws: Malformed.self) { try varint([0x80]) }
        #expect(throws: Malformed.self) { try varint([]) }
    }

    @Test func aCountBeyondItsLimitIsRefused() throws {
        for (value, limit) in [(5, 4), (1 << 20, 1_024)] {
            var writer = ByteWriter()
            writer.varint(value)
            var reader = ByteReader(writer.bytes)
            #expect(throws: Malformed.self) { try reader.count(upTo: limit) }
        }
        var writer = ByteWriter()
        writer.varint(UInt64.max)
        var reader = ByteReader(writer.bytes)
        #expect(throws: Malformed.self) { try reader.count(upTo: .max) }
        reader = ByteReader(writer.bytes)
        #expect(throws: Malformed.self) { try reader.units() }
    }

    @Test func paddingIsZero() throws {
        var reader = ByteReader([0, 0, 0])
        try reader.finish()
        #expect(reader.remaining == 0)
        reader = ByteReader([0, 1, 0])
        #expect(throws: Malformed.self) { try reader.finish() }
    }

    @Test func textIsUTF8() throws {
        var writer = ByteWriter()
        writer.text("grüße")
        var reader = ByteReader(writer.bytes)
        #expect(try reader.text(upTo: 7) == "grüße")
        reader = ByteReader(writer.bytes)
        #expect(throws: Malformed.self) { try reader.text(upTo: 6) }
        reader = ByteReader([2, 0xc3, 0x28])
        #expect(throws: Malformed.self) { try reader.text(upTo: 10) }
    }
}
