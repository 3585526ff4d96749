import Sealing
import TestSupport
import Testing

@Suite("X25519")
struct X25519Tests {
    private struct Vector: Decodable {
        let secret, `public`, shared: HexBytes
        /// The public key of `secret`, if it is published.
        let own: HexBytes?
    }

    private func publicKey(of secret: [UInt8], size: Int = 32) throws -> [UInt8] {
        var key = [UInt8](repeating: 0, count: size)
        try secret.withUnsafeBytes { secret in
            try key.withUnsafeMutableBytes { try X25519.publicKey(of: secret, into: $0) }
        }
        return key
    }

    private func sharedSecret(of secret: [UInt8], and publicKey: [UInt8], size: Int = 32) throws -> [UInt8] {
        var shared = [UInt8](repeating: 0, count: size)
        try secret.withUnsafeBytes { secret in
            try publicKey.withUnsafeBytes { publicKey in
                try shared.withUnsafeMutableBytes {
                    try X25519.sharedSecret(of: secret, and: publicKey, into: $0)
                }
            }
        }
        return shared
    }

    @Test func givesThePublishedSecretsAndPublicKeys() throws {
        for vector in try knownAnswers("x25519") as [Vector] {
            let shared = try sharedSecret(of: vector.secret.bytes, and: vector.public.bytes)
            #expect(shared == vector.shared.bytes)
            guard let own = vector.own else { continue }
            #expect(try publicKey(of: vector.secret.bytes) == own.bytes)
        }
    }

    /// RFC 7748, section 5.2: a thousand times, the result becomes the secret and the secret the public key.
    @Test func aThousandSecretsInARowEndAsPublished() throws {
        var secret = [9] + [UInt8](repeating: 0, count: 31)
        var point = [9] + [UInt8](repeating: 0, count: 31)
        for _ in 0..<1_000 {
            let shared = try sharedSecret(of: secret, and: point)
            point = secret
            secret = shared
        }
        #expect(
            Hexadecimal.string(of: secret) == "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")
    }

    /// The points of small order below 2^255 that share zero with every secret key.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func aPublicKeyThatSharesZeroIsRefused(_ digits: String) throws {
        var point = [UInt8](repeating: 0, count: 32)
        let isRead = Array(digits.utf8).withUnsafeBytes { digits in
            point.withUnsafeMutableBytes { Hexadecimal.decode(digits, into: $0) }
        }
        try #require(isRead)
        for _ in 0..<4 {
            #expect(throws: SealingError(.forged)) { try sharedSecret(of: RandomBytes.array(32), and: point) }
        }
    }

    @Test(arguments: [0, 31, 33, 64]) func aWrongLengthIsAnErrorAndNotACrash(_ length: Int) {
        let right = [UInt8](repeating: 9, count: 32)
        let wrong = [UInt8](repeating: 9, count: length)
        #expect(throws: SealingError(.length)) { try publicKey(of: wrong) }
        #expect(throws: SealingError(.length)) { try publicKey(of: right, size: length) }
        #expect(throws: SealingError(.length)) { try sharedSecret(of: wrong, and: right) }
        #expect(throws: SealingError(.length)) { try sharedSecret(of: right, and: wrong) }
        #expect(throws: SealingError(.length)) { try sharedSecret(of: right, and: right, size: length) }
    }

    @Test(.disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
    func leavesNothingOfSecretKeysAndSharedSecretsInMemory() async {
        await #expect(processExitsWith: .success) {
            let secret = try SecretBytes.random(32)
            var shared = try SecretBytes(zeros: 32)
            var key = [UInt8](repeating: 0, count: 32)
            try MemoryScan.farDown {
                try secret.withUnsafeBytes { secret in
                    try key.withUnsafeMutableBytes { try X25519.publicKey(of: secret, into: $0) }
                    try key.withUnsafeBytes { key in
                        try shared.withUnsafeMutableBytes { try X25519.sharedSecret(of: secret, and: key, into: $0) }
                    }
                }
            }
            #expect(try MemoryScan.copies(of: secret) == [])
            #expect(try MemoryScan.copies(of: shared) == [])
        }
    }
}
