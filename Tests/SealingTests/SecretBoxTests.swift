import Sealing
import TestSupport
import Testing

@Suite("Secret boxes")
struct SecretBoxTests {
    private let key = RandomBytes.array(32)
    private let nonce = RandomBytes.array(24).withUnsafeBytes { Nonce($0) }
    private let message = Array("attack at dawn, or a little later".utf8)

    @Test func aBoxWithAnyOneBitChangedDoesNotOpen() throws {
        let box = try sealed(message, nonce: nonce, key: key)
        for bit in 0..<box.count * 8 {
            var changed = box
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SealingError(.forged)) { try opened(changed, nonce: nonce, key: key) }
        }
    }

    @Test func aCutOrLengthenedBoxDoesNotOpen() throws {
        let box = try sealed(message, nonce: nonce, key: key)
        for length in 16..<box.count {
            #expect(throws: SealingError(.forged)) { try opened(Array(box[..<length]), nonce: nonce, key: key) }
        }
        #expect(throws: SealingError(.forged)) { try opened(box + [0], nonce: nonce, key: key) }
    }

    @Test func aBoxDoesNotOpenUnderAKeyWithAnyOneBitChanged() throws {
        let box = try sealed(message, nonce: nonce, key: key)
        for bit in 0..<256 {
            var changed = key
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SealingError(.forged)) { try opened(box, nonce: nonce, key: changed) }
        }
    }

    @Test func aBoxDoesNotOpenUnderANonceWithAnyOneBitChanged() throws {
        let box = try sealed(message, nonce: nonce, key: key)
        for bit in 0..<192 {
            var changed = nonce.withUnsafeBytes { Array($0) }
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let other = changed.withUnsafeBytes { Nonce($0) }
            #expect(other != nonce)
            #expect(throws: SealingError(.forged)) { try opened(box, nonce: other, key: key) }
        }
    }

    @Test func noncesOfASourceNeverRepeat() {
        var source = NonceSource()
        var seen: Set<Nonce> = []
        for _ in 0..<2_000 { seen.insert(source.next()) }
        #expect(seen.count == 2_000)
    }
}
