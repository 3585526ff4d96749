import Sealing
import TestSupport
import Testing

@Suite("ChaCha20-Poly1305 boxes")
struct ChaChaBoxTests {
    private struct Vector: Decodable { let key, nonce, message, box: HexBytes }

    private let key = RandomBytes.array(32)
    private let nonce = RandomBytes.array(12)
    private let message = Array("attack at dawn, or a little later".utf8)

    private func sealed(
        _ message: [UInt8], nonce: [UInt8], key: [UInt8], size: Int? = nil
    ) throws -> [UInt8] {
        var box = [UInt8](repeating: 0, count: size ?? message.count + ChaChaBox.tagSize)
        try message.withUnsafeBytes { message in
            try nonce.withUnsafeBytes { nonce in
                try key.withUnsafeBytes { key in
                    try box.withUnsafeMutableBytes { try ChaChaBox.seal(message, nonce: nonce, key: key, into: $0) }
                }
            }
        }
        return box
    }

    private func opened(_ box: [UInt8], nonce: [UInt8], key: [UInt8], size: Int? = nil) throws -> [UInt8] {
        var message = [UInt8](repeating: 0, count: size ?? max(0, box.count - ChaChaBox.tagSize))
        try box.withUnsafeBytes { box in
            try nonce.withUnsafeBytes { nonce in
                try key.withUnsafeBytes { key in
                    try message.withUnsafeMutableBytes { try ChaChaBox.open(box, nonce: nonce, key: key, into: $0) }
                }
            }
        }
        return message
    }

    @Test func sealAndOpenAsPublished() throws {
        for vector in try knownAnswers("chacha20poly1305") as [Vector] {
            let key = vector.key.bytes
            let nonce = vector.nonce.bytes
            #expect(try sealed(vector.message.bytes, nonce: nonce, key: key) == vector.box.bytes)
            #expect(try opened(vector.box.bytes, nonce: nonce, key: key) == vector.message.bytes)
        }
    }

    @Test func withAnyOneBitChangedDoNotOpen() throws {
        let box = try sealed(message, nonce: nonce, key: key)
        for bit in 0..<box.count * 8 {
            #expect(throws: SealingError(.forged)) { try opened(flipped(box, bit), nonce: nonce, key: key) }
        }
        for bit in 0..<96 {
            #expect(throws: SealingError(.forged)) { try opened(box, nonce: flipped(nonce, bit), key: key) }
        }
        for bit in 0..<256 {
            #expect(throws: SealingError(.forged)) { try opened(box, nonce: nonce, key: flipped(key, bit)) }
        }
    }

    @Test func cutOrLengthenedDoNotOpen() throws {
        let box = try sealed(message, nonce: nonce, key: key)
        for length in 16..<box.count {
            #expect(throws: SealingError(.forged)) { try opened(Array(box[..<length]), nonce: nonce, key: key) }
        }
        #expect(throws: SealingError(.forged)) { try opened(box + [0], nonce: nonce, key: key) }
    }

    @Test func withAWrongLengthAreAnErrorAndNotACrash() {
        for length in [0, 1, 11, 13, 16, 31, 33] {
            let wrong = [UInt8](repeating: 1, count: length)
            let box = [UInt8](repeating: 1, count: 49)
            #expect(throws: SealingError(.length)) { try sealed(message, nonce: wrong, key: key) }
            #expect(throws: SealingError(.length)) { try sealed(message, nonce: nonce, key: wrong) }
            #expect(throws: SealingError(.length)) { try sealed(message, nonce: nonce, key: key, size: length) }
            #expect(throws: SealingError(.length)) { try opened(box, nonce: wrong, key: key) }
            #expect(throws: SealingError(.length)) { try opened(box, nonce: nonce, key: wrong) }
        }
        for length in [0, 15, 17, 48, 50] {
            let box = [UInt8](repeating: 1, count: length)
            #expect(throws: SealingError(.length)) { try opened(box, nonce: nonce, key: key, size: 33) }
        }
    }

    @Test(.disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"), arguments: [16, 48, 4_000])
    func leaveNothingOfKeyAndPlaintextInMemory(size: Int) async {
        await #expect(processExitsWith: .success) { [size = size as Int] in
            let plaintext = try SecretBytes.random(size)
            let key = try SecretBytes.random(32)
            var opened = try SecretBytes(zeros: size)
            var box = [UInt8](repeating: 0, count: size + ChaChaBox.tagSize)
            let nonce = [UInt8](repeating: 0, count: 12)
            try MemoryScan.farDown {
                try key.withUnsafeBytes { key in
                    try nonce.withUnsafeBytes { nonce in
                        try plaintext.withUnsafeBytes { plaintext in
                            try box.withUnsafeMutableBytes {
                                try ChaChaBox.seal(plaintext, nonce: nonce, key: key, into: $0)
                            }
                        }
                        try opened.withUnsafeMutableBytes { opened in
                            try box.withUnsafeBytes { try ChaChaBox.open($0, nonce: nonce, key: key, into: opened) }
                        }
                    }
                }
            }
            let isEqual = opened.isEqual(to: plaintext)
            #expect(isEqual)
            #expect(try MemoryScan.copies(of: plaintext) == [])
            #expect(try MemoryScan.copies(of: key) == [])
        }
    }

    private func flipped(_ bytes: [UInt8], _ bit: Int) -> [UInt8] {
        var changed = bytes
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        return changed
    }
}
