import Sealing
import TestSupport
import Testing

@Suite("Known answers")
struct KnownAnswerTests {
    private struct Box: Decodable { let key, nonce, message, box: HexBytes }
    private struct Hash: Decodable {
        let key, message, hash: HexBytes
        let size: Int
    }
    private struct Subkey: Decodable {
        let key, context, subkey: HexBytes
        let id: UInt64
    }
    private struct Stretched: Decodable {
        let password, salt, key: HexBytes
        let passes, memory: UInt64
    }
    private struct Sum: Decodable { let key, message, hash: HexBytes }

    @Test func secretBoxSealsAndOpensThePublishedBoxes() throws {
        for vector in try knownAnswers("secretbox") as [Box] {
            let nonce = vector.nonce.bytes.withUnsafeBytes { Nonce($0) }
            let box = try sealed(vector.message.bytes, nonce: nonce, key: vector.key.bytes)
            #expect(box == vector.box.bytes)
            #expect(try opened(vector.box.bytes, nonce: nonce, key: vector.key.bytes) == vector.message.bytes)
        }
    }

    @Test func blake2bGivesThePublishedHashes() throws {
        for vector in try knownAnswers("blake2b") as [Hash] {
            var hash = [UInt8](repeating: 0, count: vector.size)
            try vector.message.bytes.withUnsafeBytes { message in
                try vector.key.bytes.withUnsafeBytes { key in
                    try hash.withUnsafeMutableBytes { try KeyedHash.hash(message, key: key, into: $0) }
                }
            }
            #expect(hash == vector.hash.bytes)
        }
    }

    @Test func aHashOfPiecesIsTheHashOfTheWhole() throws {
        for vector in try knownAnswers("blake2b") as [Hash] where vector.key.bytes.isEmpty && vector.size == 32 {
            for pieceSize in [1, 7, 64, 1_000] {
                var hash = RunningHash()
                var rest = vector.message.bytes[...]
                while !rest.isEmpty {
                    rest.prefix(pieceSize).withUnsafeBytes { hash.update($0) }
                    rest = rest.dropFirst(pieceSize)
                }
                #expect(hash.finish() == vector.hash.bytes)
            }
        }
    }

    @Test func subkeysAreThePublishedOnes() throws {
        let vectors = try knownAnswers("kdf") as [Subkey]
        for vector in vectors {
            let context: StaticString =
                switch String(decoding: vector.context.bytes, as: UTF8.self) {
                case "vault-01": "vault-01"
                default: "KDF test"
                }
            var subkey = [UInt8](repeating: 0, count: vector.subkey.bytes.count)
            try vector.key.bytes.withUnsafeBytes { key in
                try subkey.withUnsafeMutableBytes {
                    try KeyDerivation.subkey(vector.id, context: context, of: key, into: $0)
                }
            }
            #expect(subkey == vector.subkey.bytes)
        }
    }

    @Test func argon2idGivesThePublishedKeys() throws {
        for vector in try knownAnswers("argon2id") as [Stretched] {
            var key = [UInt8](repeating: 0, count: 32)
            try vector.password.bytes.withUnsafeBytes { password in
                try vector.salt.bytes.withUnsafeBytes { salt in
                    try key.withUnsafeMutableBytes {
                        try KeyDerivation.stretch(
                            password, salt: salt, limits: .init(passes: vector.passes, memory: vector.memory), into: $0)
                    }
                }
            }
            #expect(key == vector.key.bytes)
        }
    }

    @Test func sipHashGivesThePublishedSums() throws {
        for vector in try knownAnswers("siphash") as [Sum] {
            let sum = try vector.message.bytes.withUnsafeBytes { message in
                try vector.key.bytes.withUnsafeBytes { try ShortHash.hash(message, key: $0) }
            }
            #expect(withUnsafeBytes(of: sum.littleEndian) { Array($0) } == vector.hash.bytes)
        }
    }
}
