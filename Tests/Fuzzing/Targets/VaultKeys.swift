import Foundation
import Sealing

/// The keys of the vaults that the targets seal; they protect nothing. Written from Format.md, "Keys" and "Key slot".
enum VaultKeys {
    private static let secret = [UInt8](repeating: 0x4b, count: 32)
    private static let dataKey = [UInt8](repeating: 0x44, count: 32)

    static let subkeys = subkeys(of: dataKey)

    /// A generated key file.
    static let keyFile: [UInt8] = keyLine(of: secret)

    static func keyLine(of secret: [UInt8]) -> [UInt8] {
        let prefix = Array("vault-key-1-".utf8)
        let sum = Array(OpenedVault.hash(prefix + secret)[..<4])
        return prefix + "\(Hexadecimal.string(of: secret))-\(Hexadecimal.string(of: sum))\n".utf8
    }

    /// A slot that the key file opens, with the data key.
    static let slot: [UInt8] = {
        let salt = [UInt8](repeating: 0x53, count: 16)
        let nonce = [UInt8](repeating: 0x4e, count: 24)
        let box = sealed(dataKey, nonce: nonce.withUnsafeBytes { Nonce($0) }, key: wrappingKey(of: secret, salt))
        return [1, 0, 0, 0, 0, 0, 0, 0] + salt + [UInt8](repeating: 0, count: 16) + nonce + box
    }()

    static func subkeys(of dataKey: [UInt8]) -> [OpenedVault.Purpose: [UInt8]] {
        let keys = OpenedVault.Purpose.allCases.map { purpose in
            var subkey = [UInt8](repeating: 0, count: 32)
            try? dataKey.withUnsafeBytes { key in
                try subkey.withUnsafeMutableBytes {
                    try KeyDerivation.subkey(purpose.rawValue, context: "vault-01", of: key, into: $0)
                }
            }
            return (purpose, subkey)
        }
        return Dictionary(uniqueKeysWithValues: keys)
    }

    /// Returns the data key that a generated key file unwraps; nil if it opens no slot.
    static func dataKey(in vault: [UInt8], keyFile: [UInt8]) -> [UInt8]? {
        let lines = String(decoding: keyFile, as: UTF8.self).split { $0.isNewline }
        guard let line = lines.first(where: { $0.lowercased().hasPrefix("vault-key-1-") }) else { return nil }
        var secret = [UInt8](repeating: 0, count: 32)
        let digits = Array(line.utf8.dropFirst(12).prefix(64))
        guard
            digits.withUnsafeBytes({ digits in secret.withUnsafeMutableBytes { Hexadecimal.decode(digits, into: $0) } })
        else { return nil }
        for start in stride(from: 256, to: 2_048, by: 112) where vault[start] == 1 {
            let key = wrappingKey(of: secret, Array(vault[start + 8..<start + 24]))
            let nonce = vault[start + 40..<start + 64].withUnsafeBytes { Nonce($0) }
            var dataKey = [UInt8](repeating: 0, count: 32)
            let opened: Void? = try? vault[start + 64..<start + 112].withUnsafeBytes { box in
                try key.withUnsafeBytes { key in
                    try dataKey.withUnsafeMutableBytes { try SecretBox.open(box, nonce: nonce, key: key, into: $0) }
                }
            }
            if opened != nil { return dataKey }
        }
        return nil
    }

    private static func wrappingKey(of secret: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        OpenedVault.hash(Array("vault slot 1".utf8) + salt, key: secret)
    }

    static func sealed(_ plain: [UInt8], nonce: Nonce, key: [UInt8]) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: plain.count + 16)
        try? plain.withUnsafeBytes { plain in
            try key.withUnsafeBytes { key in
                try box.withUnsafeMutableBytes { try SecretBox.seal(plain, nonce: nonce, key: key, into: $0) }
            }
        }
        return box
    }
}
