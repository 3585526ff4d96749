import Sealing
import TestSupport
import Testing

@Suite("Ed25519")
struct Ed25519Tests {
    private struct Vector: Sendable {
        let seed, publicKey, message, signature: String
    }

    /// RFC 8032, section 7.1, tests 1 to 3.
    private static let vectors = [
        Vector(
            seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
            signature:
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                + "d25bf5f0595bbe24655141438e7a100b"),
        Vector(
            seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
            signature:
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
                + "387b2eaeb4302aeeb00d291612bb0c00"),
        Vector(
            seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
            signature:
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
                + "4a7c15e9716ed28dc027beceea1ec40a"),
    ]

    private func keys(from seed: [UInt8]) throws -> (secret: [UInt8], public: [UInt8]) {
        var secret = [UInt8](repeating: 0, count: Ed25519.secretKeySize)
        var publicKey = [UInt8](repeating: 0, count: Ed25519.publicKeySize)
        try seed.withUnsafeBytes { seed in
            try secret.withUnsafeMutableBytes { secret in
                try publicKey.withUnsafeMutableBytes {
                    try Ed25519.makeKeys(from: seed, secretKey: secret, publicKey: $0)
                }
            }
        }
        return (secret, publicKey)
    }

    private func bytes(_ digits: String) throws -> [UInt8] {
        try #require(Hexadecimal.bytes(digits[...], count: digits.count / 2))
    }

    @Test func givesThePublishedKeysAndSignatures() throws {
        for vector in Ed25519Tests.vectors {
            let keys = try keys(from: bytes(vector.seed))
            #expect(try keys.public == bytes(vector.publicKey))
            let message = try vector.message.isEmpty ? [] : bytes(vector.message)
            let signature = try keys.secret.withUnsafeBytes { try Ed25519.signature(of: message, secretKey: $0) }
            #expect(try signature == bytes(vector.signature))
            #expect(Ed25519.isValid(signature, of: message, publicKey: keys.public))
            #expect(!Ed25519.isValid(signature, of: message + [0], publicKey: keys.public))
            for index in signature.indices {
                var changed = signature
                changed[index] ^= 1
                #expect(!Ed25519.isValid(changed, of: message, publicKey: keys.public))
            }
        }
    }

    @Test func refusesOtherLengths() throws {
        #expect(throws: SealingError(.length)) { _ = try keys(from: RandomBytes.array(31)) }
        let short = RandomBytes.array(63)
        #expect(throws: SealingError(.length)) {
            _ = try short.withUnsafeBytes { try Ed25519.signature(of: [], secretKey: $0) }
        }
        #expect(!Ed25519.isValid(short, of: [], publicKey: RandomBytes.array(32)))
        #expect(!Ed25519.isValid(RandomBytes.array(64), of: [], publicKey: RandomBytes.array(31)))
    }
}
