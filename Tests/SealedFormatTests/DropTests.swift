import Sealing
import TestSupport
import Testing

@testable import SealedFormat

/// What is in a drop: its sender is unknown, so its bytes may be any.
@Suite("Drops")
struct DropTests {
    private func drop(
        _ name: String = "name", _ value: [UInt8] = [1, 2, 3], attributes: [Attribute] = []
    ) throws -> DropContents {
        DropContents(
            name: try .sample(name), kind: 7, attributes: attributes, value: try SecretBytes(copyOf: value),
            created: 1_795_000_000_000)
    }

    private func code(_ bytes: [UInt8]) throws -> LogError.Code? {
        try LogError.code { _ = try DropContents(parsing: SecretBytes(copyOf: bytes)) }
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4_096, 100_000]) func areReadAsTheyWereSealed(_ size: Int) throws {
        let value = RandomBytes.array(size)
        let attributes = [Attribute(key: "a", value: "ü"), Attribute(key: "b", value: "")]
        let read = try DropContents(parsing: drop("näme/x", value, attributes: attributes).encoded())
        #expect(read.name.text == "näme/x" && read.kind == 7 && read.created == 1_795_000_000_000)
        #expect(read.attributes == attributes)
        #expect(read.value.unsafeArray() == value)
    }

    @Test func ofTheLargestValueAreReadAndOfALargerOneRefused() throws {
        let largest = [UInt8](repeating: 5, count: Limits.valueSize)
        #expect(try DropContents(parsing: drop("a", largest).encoded()).value.count == largest.count)
        #expect(try LogError.code { _ = try DropContents(parsing: drop("a", largest + [5]).encoded()) } == .damaged)
    }

    @Test func thatAreCutBeforeTheirValueAreRefused() throws {
        let whole = try drop(attributes: [Attribute(key: "key", value: "value")]).encoded().unsafeArray()
        for length in 0..<whole.count - 3 { #expect(try code(Array(whole[..<length])) == .damaged) }
        #expect(try code(Array(whole.dropLast(3))) == nil)
    }

    @Test func withANameThatNoEntryCanHaveAreRefused() throws {
        let whole = try drop("name").encoded().unsafeArray()
        let offset = try #require(whole.indices.first { whole[$0...].starts(with: "name".utf8) })
        for byte in [0x00, 0x0A, 0x1B, 0x7F, 0xFF] as [UInt8] {
            var changed = whole
            changed[offset] = byte
            #expect(try code(changed) == .damaged)
        }
    }

    @Test func parsingIsTotal() throws {
        var generator = SeededGenerator(1)
        let whole = try drop(attributes: [Attribute(key: "key", value: "value")]).encoded().unsafeArray()
        for number in 0..<3_000 {
            var bytes = whole
            if number.isMultiple(of: 2) {
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
            } else {
                bytes = Array(whole[..<8]) + generator.bytes(Int.random(in: 0...80, using: &generator))
            }
            #expect(try [nil, .damaged].contains(code(bytes)), "\(bytes)")
        }
    }
}
