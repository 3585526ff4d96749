import LinuxSystem
import Sealing

/// The key with which a machine signs its changes; see Format.md, "Members".
package final class DeviceKey: Sendable {
    package let device: Device
    private let secretKey: SecretBytes

    /// Derives the device key from a key file that was generated for this purpose and opens no vault.
    package init(_ file: borrowing KeyFile) throws(LogError) {
        var seed = try translated(SecretBytes(zeros: Ed25519.seedSize, isKey: true))
        var secretKey = try translated(SecretBytes(zeros: Ed25519.secretKeySize, isKey: true))
        var publicKey = [UInt8](repeating: 0, count: Ed25519.publicKeySize)
        try file.secret.withUnsafeBytes { (secret) throws(LogError) in
            try seed.withUnsafeMutableBytes { (seed) throws(LogError) in
                try translated(KeyDerivation.subkey(1, context: "vltdevic", of: secret, into: seed))
                try secretKey.withUnsafeMutableBytes { (secretKey) throws(LogError) in
                    try publicKey.withMutableRawBytes { (publicKey) throws(LogError) in
                        try translated(
                            Ed25519.makeKeys(
                                from: UnsafeRawBufferPointer(seed), secretKey: secretKey, publicKey: publicKey))
                    }
                }
            }
        }
        guard let device = Device(publicKey: publicKey) else { throw LogError(.keyUnsuitable) }
        self.device = device
        self.secretKey = secretKey
    }

    package func sign(_ statement: Statement, after seen: LogPosition) throws(LogError) -> Authorship {
        let message = statement.message(by: device, after: seen)
        let signature = try secretKey.withUnsafeBytes { (key) throws(LogError) in
            try translated(Ed25519.signature(of: message, secretKey: key))
        }
        return Authorship(author: device.id, seen: seen, signature: signature)
    }
}

extension Device {
    private static let prefix = "vault-device-1-"

    /// The device as a string for users to pass on: `vault-device-1-`, the public key in hex, and an 8-digit checksum.
    package var text: String {
        "\(Device.prefix)\(Hexadecimal.string(of: publicKey))-\(Hexadecimal.string(of: Device.checksum(publicKey)))"
    }

    package init?(_ text: String) {
        guard text.lowercased().hasPrefix(Device.prefix) else { return nil }
        let parts = text.dropFirst(Device.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let publicKey = Hexadecimal.bytes(parts[0], count: Ed25519.publicKeySize),
            Hexadecimal.bytes(parts[1], count: 4) == Device.checksum(publicKey)
        else { return nil }
        self.init(publicKey: publicKey)
    }

    private static func checksum(_ publicKey: [UInt8]) -> [UInt8] {
        let hash = (Array(prefix.utf8) + publicKey).withUnsafeBytes { RunningHash.hash(of: $0) }
        return Array(hash[..<4])
    }
}
