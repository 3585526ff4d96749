import Sealing

/// What a key file holds.
package struct KeyFile: ~Copyable {
    package enum Kind: UInt8, Sendable {
        /// Made by this project: 32 random bytes and a checksum, as text.
        case generated = 1
        /// Anything else; its bytes go through Argon2id.
        case other = 2
    }

    /// Why a file that others than its owner can read serves as a key all the same.
    package enum Sharing: Sendable {
        /// It lies below a folder that systemd or Docker keep secrets in.
        case secretFolder
        /// It lies on a file system in memory, as Kubernetes mounts secrets.
        case inMemory
        /// Its file system is mounted read-only.
        case readOnly
        /// The person has accepted it.
        case accepted
    }

    package let kind: Kind
    /// nil if only its owner can read the file.
    package internal(set) var sharing: Sharing?
    /// The 32 random bytes, or all the bytes of the file.
    let secret: SecretBytes

    package static let maximumSize = 1 << 20
    /// A file of another kind with fewer bytes than this can be guessed.
    package static let shortestSafeSize = 16

    /// Whether the file is so short that whoever has the vault may guess it.
    package var isShort: Bool { kind == .other && secret.count < KeyFile.shortestSafeSize }

    /// Whether the pages are locked against swapping.
    package var isLockedInMemory: Bool { secret.isLockedInMemory }
}
