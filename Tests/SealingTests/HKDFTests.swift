import LinuxSystem
import Sealing
import TestSupport
import Testing

@Suite("HMAC-SHA256 and HKDF-SHA256")
struct HKDFTests {
    private struct Derivation: Decodable { let secret, salt, info, output: HexBytes }
    private struct Sum: Decodable { let key, message, hash: HexBytes }

    private func derived(_ secret: [UInt8], salt: [UInt8], info: [UInt8], size: Int) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: size)
        try secret.withUnsafeBytes { secret in
            try salt.withUnsafeBytes { salt in
                try info.withUnsafeBytes { info in
                    try output.withUnsafeMutableBytes {
                        try HKDF.derive(from: secret, salt: salt, info: info, into: $0)
                    }
                }
            }
        }
        return output
    }

    @Test func keysAreThePublishedOnes() throws {
        for vector in try knownAnswers("hkdf") as [Derivation] {
            let secret = vector.secret.bytes
            let salt = vector.salt.bytes
            let info = vector.info.bytes
            let output = vector.output.bytes
            #expect(try derived(secret, salt: salt, info: info, size: output.count) == output)
        }
    }

    @Test func aShorterKeyIsTheStartOfALongerOne() throws {
        let whole = try derived([1], salt: [2], info: [3], size: 200)
        for size in [0, 1, 31, 32, 33, 64, 199] {
            #expect(try derived([1], salt: [2], info: [3], size: size) == Array(whole[..<size]))
        }
    }

    @Test func moreThan255BlocksAreRefused() throws {
        #expect(try derived([1], salt: [], info: [], size: 8_160).count == 8_160)
        #expect(throws: SealingError(.length)) { try derived([1], salt: [], info: [], size: 8_161) }
    }

    @Test(arguments: [1, 7, 64, 1_000]) func aSumOfPiecesIsThePublishedOne(pieceSize: Int) throws {
        for vector in try knownAnswers("hmac") as [Sum] {
            var hash = try vector.key.bytes.withRawBytes { (key) throws(SealingError) in try RunningHMAC(key: key) }
            var rest = vector.message.bytes[...]
            while !rest.isEmpty {
                try rest.prefix(pieceSize).withUnsafeBytes { try hash.update($0) }
                rest = rest.dropFirst(pieceSize)
            }
            #expect(try hash.finish().unsafeArray() == vector.hash.bytes)
        }
    }

    @Test(.disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
    func aDerivationLeavesNothingOfItsSecretsInMemory() async {
        await #expect(processExitsWith: .success) {
            let secret = try SecretBytes.random(32)
            var output = try SecretBytes(zeros: 64)
            let salt = [UInt8](repeating: 3, count: 64)
            try MemoryScan.farDown {
                try secret.withUnsafeBytes { secret in
                    try output.withUnsafeMutableBytes { output in
                        try salt.withUnsafeBytes { try HKDF.derive(from: secret, salt: $0, info: $0, into: output) }
                    }
                }
            }
            #expect(try MemoryScan.copies(of: secret) == [])
            #expect(try MemoryScan.copies(of: output) == [])
        }
    }
}
