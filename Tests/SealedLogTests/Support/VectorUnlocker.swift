import Foundation
import LinuxSystem
import Sealing
import TestSupport

@testable import SealedFormat

/// Opens a vault of another implementation by what its vector names: a key file, a passphrase, both, or the file key
/// that an identity has found.
struct VectorUnlocker: Unlocker {
    let vector: VaultVector
    /// The path of the key file.
    let keyPath: String
    /// Whether the vault is one that the test has made of the vector's.
    var trustsRecipients = false
    private var attempts = 0

    init(_ vector: VaultVector, in folder: TemporaryFolder) throws {
        self.vector = vector
        keyPath = folder.file("key")
        try vector.key.map { try overwrite(folder.file("key"), $0) }
    }

    mutating func restart() { attempts = 0 }

    var failure: LogError { LogError(.keyWrong) }

    mutating func next(for vault: LockedVault) throws(LogError) -> Credential? {
        attempts += 1
        switch attempts {
        case 1 where vector.key != nil: return try .keyFile(keyFile())
        case 2:
            guard let passphrase = vector.passphrase else { break }
            return try .passphrase(secret(Array(passphrase.utf8)))
        case 3:
            guard let passphrase = vector.passphrase, vector.key != nil else { break }
            return try .passphrase(secret(Array(passphrase.utf8)), with: keyFile())
        case 4:
            let slot = vault.slots.first { $0.kind == KeySlot.Kind.recipient.rawValue }
            guard let fileKey = vector.fileKey, let slot else { break }
            return try .recipient(secret(fileKey), ofSlotWith: slot.salt)
        case 5...: return nil
        default: break
        }
        return try next(for: vault)
    }

    mutating func check(_ vault: UnlockedVault) throws(LogError) {
        guard !trustsRecipients, vault.keys.slot?.isOfRecipient ?? false else { return }
        guard try vault.fingerprint() == vector.fingerprint else { throw LogError(.unpinned) }
    }

    func remember(_ vault: UnlockedVault, behind flush: () throws(LogError) -> Void) {}

    private func keyFile() throws(LogError) -> KeyFile {
        try KeyFile.read(keyPath, secretFolders: [], in: PosixFileSystem())
    }

    private func secret(_ bytes: [UInt8]) throws(LogError) -> SecretBytes {
        try translated(SecretBytes(copyOf: bytes))
    }
}
