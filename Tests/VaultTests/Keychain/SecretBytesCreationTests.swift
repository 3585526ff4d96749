import Sealing
import TestSupport
import Testing
import Vault

@Suite("Creating secret bytes")
struct SecretBytesCreationTests {
    @Test func copiesTextsAndBytes() throws {
        #expect(try SecretBytes(utf8: "grüße").unsafeString() == "grüße")
        #expect(try SecretBytes(utf8: "").unsafeString() == "")
        #expect(try SecretBytes(copying: [1, 2]).unsafeArray() == [1, 2])
        let bytes: [UInt8] = [3, 4]
        #expect(try SecretBytes(copying: bytes.span.bytes).unsafeArray() == [3, 4])
        #expect(try SecretBytes(zeroCount: 3).unsafeArray() == [0, 0, 0])
    }

    @Test func throwsTheErrorOfTheLibrary() throws {
        #expect(try VaultError.code { _ = try SecretBytes(zeroCount: -1) } == .invalid)
        for count in [Int.max, Int.max - 16] {
            let error = #expect(throws: VaultError.self) { _ = try SecretBytes(zeroCount: count) }
            #expect(error?.code == .unavailable)
            #expect(error?.message == "There is no guarded memory left for keys and values.")
        }
        #expect(try VaultError.code { _ = try SecretBytes(unsafeCapacity: -1) { _ in 0 } } == .invalid)
    }

    @Test func keepsNoMoreThanItsFillerSaysItWrote() throws {
        let secret = try SecretBytes(unsafeCapacity: 64) { room in
            room.copyBytes(from: [UInt8](repeating: 9, count: 64))
            return 5
        }
        #expect(secret.unsafeArray() == [9, 9, 9, 9, 9])
        #expect(secret.withPaddedBytes { $0.dropFirst(5).allSatisfy { $0 == 0 } })
    }

    @Test func passesOnWhatItsFillerThrows() {
        struct Failure: Error {}
        #expect(throws: Failure.self) { _ = try SecretBytes(unsafeCapacity: 8) { _ in throw Failure() } }
    }
}
