import LinuxSystem
import Sealing
import TestSupport
import Testing

/// Checks that the calls of libsodium leave nothing in ordinary memory. Each test runs in a process of its own.
@Suite("What is left in memory", .disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
struct MemoryTests {
    @Test func theScanFindsACopyInOrdinaryMemory() async {
        await #expect(processExitsWith: .success) {
            let secret = try SecretBytes.random(48)
            #expect(try MemoryScan.copies(of: secret) == [])
            #expect(try MemoryScan.copies(of: secret, ordinaryOnly: false).count == 1)
            let copy = secret.unsafeArray()
            #expect(try !MemoryScan.copies(of: secret).isEmpty)
            withExtendedLifetime(copy) {}
        }
    }

    /// 16 bytes take part of the key stream's first block, together with the tag's key. 48 and more take several
    /// blocks.
    @Test(arguments: [16, 48, 4_000]) func openingABoxLeavesNothingOfThePlaintext(size: Int) async {
        await #expect(processExitsWith: .success) { [size = size as Int] in
            let plaintext = try SecretBytes.random(size)
            let key = try SecretBytes.random(32)
            var opened = try SecretBytes(zeros: size)
            var box = [UInt8](repeating: 0, count: size + SecretBox.tagSize)
            var nonces = NonceSource()
            let nonce = nonces.next()
            try MemoryScan.farDown {
                try key.withUnsafeBytes { key in
                    try plaintext.withUnsafeBytes { plaintext in
                        try box.withMutableRawBytes { try SecretBox.seal(plaintext, nonce: nonce, key: key, into: $0) }
                    }
                    try opened.withUnsafeMutableBytes { opened in
                        try box.withRawBytes { try SecretBox.open($0, nonce: nonce, key: key, into: opened) }
                    }
                }
            }
            let isEqual = opened.isEqual(to: plaintext)
            #expect(isEqual)
            #expect(try MemoryScan.copies(of: plaintext) == [])
            #expect(try MemoryScan.copies(of: key) == [])
        }
    }

    @Test func aKeyedHashLeavesNothingOfItsKeyAndItsResult() async {
        await #expect(processExitsWith: .success) {
            let key = try SecretBytes.random(32)
            var result = try SecretBytes(zeros: 32)
            let bytes = [UInt8](repeating: 7, count: 60)
            try MemoryScan.farDown {
                try key.withUnsafeBytes { key in
                    try result.withUnsafeMutableBytes { result in
                        try bytes.withRawBytes { try KeyedHash.hash($0, key: key, into: result) }
                    }
                }
            }
            #expect(try MemoryScan.copies(of: key) == [])
            #expect(try MemoryScan.copies(of: result) == [])
        }
    }

    @Test func aHashLeavesNothingOfWhatIsHashed() async {
        await #expect(processExitsWith: .success) {
            let secret = try SecretBytes.random(48)
            var sum = [UInt8](repeating: 0, count: 32)
            try MemoryScan.farDown {
                try secret.withUnsafeBytes { secret in
                    try sum.withMutableRawBytes { try KeyedHash.hash(secret, into: $0) }
                }
            }
            #expect(try MemoryScan.copies(of: secret) == [])
        }
    }

    @Test func derivingASubkeyLeavesNothingOfEitherKey() async {
        await #expect(processExitsWith: .success) {
            let key = try SecretBytes.random(32)
            var subkey = try SecretBytes(zeros: 32)
            try MemoryScan.farDown {
                try key.withUnsafeBytes { key in
                    try subkey.withUnsafeMutableBytes { subkey in
                        try KeyDerivation.subkey(1, context: "vault-01", of: key, into: subkey)
                    }
                }
            }
            #expect(try MemoryScan.copies(of: key) == [])
            #expect(try MemoryScan.copies(of: subkey) == [])
        }
    }

    @Test func stretchingAPassphraseLeavesNothingOfItAndOfTheKey() async {
        await #expect(processExitsWith: .success) {
            let passphrase = try SecretBytes.random(64)
            var key = try SecretBytes(zeros: 32)
            let salt = [UInt8](repeating: 3, count: KeyDerivation.saltSize)
            let limits = KeyDerivation.StretchLimits(passes: 2, memory: 1 << 20)
            try MemoryScan.farDown {
                try passphrase.withUnsafeBytes { passphrase in
                    try key.withUnsafeMutableBytes { key in
                        try salt.withRawBytes { salt in
                            try KeyDerivation.stretch(passphrase, salt: salt, limits: limits, into: key)
                        }
                    }
                }
            }
            #expect(try MemoryScan.copies(of: passphrase) == [])
            #expect(try MemoryScan.copies(of: key) == [])
        }
    }
}
