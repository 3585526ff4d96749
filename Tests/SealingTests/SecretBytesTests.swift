import FoundationEssentials
import Sealing
import TestSupport
import Testing

@Suite("Secret bytes")
struct SecretBytesTests {
    @Test(arguments: [0, 1, 15, 16, 17, 31, 32, 100, 4_096, 70_000]) func arePaddedWithZeros(_ count: Int) throws {
        let bytes = RandomBytes.array(count)
        let secret = try SecretBytes(copyOf: bytes)
        let size = secret.count
        #expect(size == count)
        #expect(secret.unsafeArray() == bytes)
        let padded = secret.withPaddedBytes { Array($0) }
        #expect(padded.count == max(16, (count + 15) / 16 * 16))
        #expect(padded == bytes + [UInt8](repeating: 0, count: padded.count - count))
    }

    @Test(arguments: [100, 5_000]) func areZeroWhenTheyAreNew(_ count: Int) throws {
        let secret = try SecretBytes(zeros: count)
        #expect(secret.unsafeArray() == [UInt8](repeating: 0, count: count))
    }

    @Test func areReadAsTheyWereWritten() throws {
        var secret = try SecretBytes(copyOf: Array("grüße".utf8))
        #expect(secret.unsafeString() == "grüße")
        #expect(secret.withBytes { $0.byteCount } == 7)
        secret.withUnsafeMutableBytes { $0[0] = UInt8(ascii: "G") }
        #expect(secret.unsafeString() == "Grüße")
        #expect(try SecretBytes(copyOf: [0xff, 0xfe]).unsafeString() == nil)
        #expect(try SecretBytes(zeros: 0).unsafeString() == "")
    }

    @Test func truncatingWipesWhatIsCutOff() throws {
        var secret = try SecretBytes(copyOf: [UInt8](repeating: 0xaa, count: 100))
        secret.truncate(to: 3)
        let size = secret.count
        #expect(size == 3)
        #expect(secret.unsafeArray() == [0xaa, 0xaa, 0xaa])
        let all = secret.withUnsafeMutablePaddedBytes { Array($0) }
        #expect(all.count == 112)
        #expect(all.dropFirst(3).allSatisfy { $0 == 0 })
    }

    @Test func ofAKeyLieBeforeAPageThatCannotBeRead() async {
        await #expect(processExitsWith: .failure) {
            let secret = try SecretBytes(zeros: 16, isKey: true)
            let byte = secret.withPaddedBytes { $0.baseAddress!.load(fromByteOffset: 16, as: UInt8.self) }
            print(byte)
        }
    }

    @Test func areEqualOnlyIfAllTheirBytesAre() throws {
        let bytes = RandomBytes.array(40)
        let secret = try SecretBytes(copyOf: bytes)
        #expect(secret.isEqual(to: try SecretBytes(copyOf: bytes)))
        for bit in 0..<320 {
            var other = bytes
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!secret.isEqual(to: try SecretBytes(copyOf: other)))
        }
        // The padding would be the same.
        #expect(!(try SecretBytes(copyOf: [1])).isEqual(to: try SecretBytes(copyOf: [1, 0])))
        #expect(try SecretBytes(zeros: 0).isEqual(to: try SecretBytes(zeros: 0)))
    }

    @Test(arguments: 0...70)
    func haveTheUsualBase64(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 200) }
        let digits = try bytes.withUnsafeBytes { try SecretBytes(base64Of: $0).unsafeString() }
        #expect(digits == Data(bytes).base64EncodedString())
    }

    // The compiler picks an overload by the type's capabilities. If secret bytes ever become copyable, or get a textual
    // form, it picks the other one.
    private func isCopyable<T: ~Copyable>(_ type: T.Type) -> Bool { false }
    private func isCopyable<T>(_ type: T.Type) -> Bool { true }
    private func hasText<T: ~Copyable>(_ type: T.Type) -> Bool { false }
    private func hasText<T: CustomStringConvertible>(_ type: T.Type) -> Bool { true }

    @Test func cannotBeCopiedAndHaveNoTextualForm() {
        #expect(!isCopyable(SecretBytes.self))
        #expect(!hasText(SecretBytes.self))
        #expect(isCopyable(String.self) && hasText(String.self))
    }
}
