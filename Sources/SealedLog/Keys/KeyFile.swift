import Sealing

/// What a key file holds.
package struct KeyFile: ~Copyable {
    package enum Kind: UInt8, Sendable {
        /// Made by this project: 32 random bytes and a checksum, as text.
        case generated = 1
        /// Anything else; its bytes go through Argon2id.
        case other = 2
    }

    package let kind: Kind
    /// The 32 random bytes, or all the bytes of the file.
    let secret: SecretBytes

    package static let maximumSize = 1 << 20

    /// Whether the pages are locked against swapping.
    package var isLockedInMemory: Bool { secret.isLockedInMemory }
}
