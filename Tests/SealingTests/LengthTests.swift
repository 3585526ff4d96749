import Sealing
import TestSupport
import Testing

/// libsodium trusts the lengths that it gets. A wrong one must be refused before the call.
@Suite("Wrong lengths are errors, not crashes")
struct LengthTests {
    private static let lengths = [0, 1, 15, 16, 17, 31, 33, 64, 65, 1_000]
    private let nonce = RandomBytes.array(24).withUnsafeBytes { Nonce($0) }
    private let key = [UInt8](repeating: 7, count: 32)

    @Test(arguments: lengths) func ofAKey(_ length: Int) {
        let wrong = [UInt8](repeating: 7, count: length)
        #expect(throws: SealingError(.length)) { try sealed([1], nonce: nonce, key: wrong) }
        #expect(throws: SealingError(.length)) {
            try opened([UInt8](repeating: 0, count: 17), nonce: nonce, key: wrong)
        }
        var subkey = [UInt8](repeating: 0, count: 32)
        #expect(throws: SealingError(.length)) {
            try wrong.withUnsafeBytes { key in
                try subkey.withUnsafeMutableBytes {
                    try KeyDerivation.subkey(1, context: "vault-01", of: key, into: $0)
                }
            }
        }
    }

    @Test(arguments: [0, 1, 15, 16, 18, 33]) func ofABox(_ length: Int) {
        var box = [UInt8](repeating: 0, count: length)
        var message: [UInt8] = [1]
        #expect(throws: SealingError(.length)) {
            try message.withUnsafeBytes { message in
                try key.withUnsafeBytes { key in
                    try box.withUnsafeMutableBytes { try SecretBox.seal(message, nonce: nonce, key: key, into: $0) }
                }
            }
        }
        #expect(throws: SealingError(.length)) {
            try box.withUnsafeBytes { box in
                try key.withUnsafeBytes { key in
                    try message.withUnsafeMutableBytes { try SecretBox.open(box, nonce: nonce, key: key, into: $0) }
                }
            }
        }
    }

    @Test(arguments: [1, 15, 65]) func ofTheKeyOfAHash(_ length: Int) {
        #expect(throws: SealingError(.length)) { try hash(keySize: length, outputSize: 32) }
    }

    @Test(arguments: [0, 1, 15, 65]) func ofAHash(_ length: Int) {
        #expect(throws: SealingError(.length)) { try hash(keySize: 32, outputSize: length) }
    }

    @Test(arguments: [0, 15, 65]) func ofASubkey(_ length: Int) {
        var subkey = [UInt8](repeating: 0, count: length)
        #expect(throws: SealingError(.length)) {
            try key.withUnsafeBytes { key in
                try subkey.withUnsafeMutableBytes {
                    try KeyDerivation.subkey(1, context: "vault-01", of: key, into: $0)
                }
            }
        }
    }

    @Test func ofTheContextOfASubkey() {
        var subkey = [UInt8](repeating: 0, count: 32)
        for context in ["", "vault-0", "vault-011"] as [StaticString] {
            #expect(throws: SealingError(.length)) {
                try key.withUnsafeBytes { key in
                    try subkey.withUnsafeMutableBytes {
                        try KeyDerivation.subkey(1, context: context, of: key, into: $0)
                    }
                }
            }
        }
    }

    @Test(arguments: [0, 15, 17, 32]) func ofTheKeyOfASipHash(_ length: Int) {
        #expect(throws: SealingError(.length)) {
            try [1, 2, 3].withUnsafeBytes { bytes in
                try [UInt8](repeating: 0, count: length).withUnsafeBytes { try ShortHash.hash(bytes, key: $0) }
            }
        }
    }

    @Test(arguments: [0, 15, 17, 32]) func ofTheSaltOfArgon2id(_ length: Int) {
        #expect(throws: SealingError(.length)) {
            try stretch(salt: length, key: 32, limits: .init(passes: 1, memory: 8 << 10))
        }
    }

    @Test(arguments: [0, 16, 31, 33]) func ofTheKeyOfArgon2id(_ length: Int) {
        #expect(throws: SealingError(.length)) {
            try stretch(salt: 16, key: length, limits: .init(passes: 1, memory: 8 << 10))
        }
    }

    @Test(arguments: [0, 11, UInt64.max]) func passesOfArgon2idThatAreOutOfBoundsAreRefused(_ passes: UInt64) {
        #expect(throws: SealingError(.limits)) {
            try stretch(salt: 16, key: 32, limits: .init(passes: passes, memory: 8 << 10))
        }
    }

    @Test(arguments: [0, 8_191, 1_073_741_825, UInt64.max])
    func memoryOfArgon2idThatIsOutOfBoundsIsRefused(_ memory: UInt64) {
        #expect(throws: SealingError(.limits)) {
            try stretch(salt: 16, key: 32, limits: .init(passes: 1, memory: memory))
        }
    }

    @Test func ofSecretBytes() {
        for count in [-1, Int.min, Int.max, Int.max - 15] {
            #expect(throws: SealingError(.length)) { _ = try SecretBytes(zeros: count) }
        }
        #expect(throws: SealingError(.outOfMemory)) { _ = try SecretBytes(zeros: Int.max - 16) }
    }

    private func hash(keySize: Int, outputSize: Int) throws {
        var output = [UInt8](repeating: 0, count: outputSize)
        try [UInt8](repeating: 1, count: keySize).withUnsafeBytes { key in
            try [1].withUnsafeBytes { message in
                try output.withUnsafeMutableBytes { try KeyedHash.hash(message, key: key, into: $0) }
            }
        }
    }

    private func stretch(salt: Int, key: Int, limits: KeyDerivation.StretchLimits) throws {
        var output = [UInt8](repeating: 0, count: key)
        try [UInt8](repeating: 1, count: salt).withUnsafeBytes { salt in
            try Array("passphrase".utf8).withUnsafeBytes { passphrase in
                try output.withUnsafeMutableBytes {
                    try KeyDerivation.stretch(passphrase, salt: salt, limits: limits, into: $0)
                }
            }
        }
    }
}
