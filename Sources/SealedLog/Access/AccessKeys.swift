import LinuxSystem
import Sealing

/// The keys of the access log, one for the current data key and one for each former data key. The former keys open
/// records that were written before a rotation.
final class AccessKeys: Sendable {
    private static let context: StaticString = "vltaccs1"
    private static var keySize: Int { SecretBox.keySize }

    /// The access log's current key, followed by its former keys, newest first.
    private let keys: SecretBytes

    /// Derives the keys. `formerMemoryKeys` are the memory subkeys of the former data keys, oldest first.
    init(_ ring: KeyRing, formerMemoryKeys: [[UInt8]]) throws(LogError) {
        let memoryKeys = [ring.memoryKey] + formerMemoryKeys.reversed()
        var keys = try translated(SecretBytes(zeros: memoryKeys.count * AccessKeys.keySize, isKey: true))
        try keys.withUnsafeMutableBytes { (bytes) throws(LogError) in
            for (index, memoryKey) in memoryKeys.enumerated() {
                let key = UnsafeMutableRawBufferPointer(rebasing: bytes[AccessKeys.range(of: index)])
                try memoryKey.withRawBytes { (memoryKey) throws(LogError) in
                    try translated(KeyDerivation.subkey(1, context: AccessKeys.context, of: memoryKey, into: key))
                }
            }
        }
        self.keys = keys
    }

    private static func range(of index: Int) -> Range<Int> { index * keySize..<(index + 1) * keySize }

    func seal(_ plaintext: [UInt8], nonce: Nonce) throws(LogError) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: plaintext.count + SecretBox.tagSize)
        try keys.withUnsafeBytes { (keys) throws(LogError) in
            let key = UnsafeRawBufferPointer(rebasing: keys[AccessKeys.range(of: 0)])
            try plaintext.withRawBytes { (plaintext) throws(LogError) in
                try box.withMutableRawBytes { (box) throws(LogError) in
                    try translated(SecretBox.seal(plaintext, nonce: nonce, key: key, into: box))
                }
            }
        }
        return box
    }

    /// Opens a box with the first key that authenticates it. Returns nil if no key does.
    func open(_ box: UnsafeRawBufferPointer, nonce: Nonce) -> [UInt8]? {
        guard box.count >= SecretBox.tagSize else { return nil }
        var plaintext = [UInt8](repeating: 0, count: box.count - SecretBox.tagSize)
        for index in 0..<keys.count / AccessKeys.keySize {
            let isOpen: Void? = keys.withUnsafeBytes { keys in
                let key = UnsafeRawBufferPointer(rebasing: keys[AccessKeys.range(of: index)])
                return plaintext.withUnsafeMutableBytes { plaintext in
                    try? SecretBox.open(box, nonce: nonce, key: key, into: plaintext)
                }
            }
            if isOpen != nil { return plaintext }
        }
        return nil
    }
}
