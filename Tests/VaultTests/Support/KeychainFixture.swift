import Foundation
import LinuxSystem
import TestSupport

@testable import Vault

/// Places for a vault, its key and its memory, in a folder of their own; nothing is made there yet.
final class KeychainFixture: Sendable {
    let folder: TemporaryFolder
    let location: VaultLocation

    init() throws {
        folder = try TemporaryFolder()
        location = VaultLocation(
            vault: folder.file("data/default.vault"), keyFile: folder.file("config/default.key"),
            rollbackMemory: folder.file("state"))
    }

    /// Opens the vault, and makes it if there is none.
    func open(accepting: Set<VaultError.Code> = []) throws(VaultError) -> Keychain {
        var options = Keychain.Options()
        options.acceptedAlarms = accepting
        return try Keychain(at: location, creatingIfAbsent: true, options: options)
    }

    /// The same with calls that can be made to fail. Nobody else may have the vault open: a process has one log for a
    /// file, with the file system that it was opened in.
    func open(in files: any FileSystem) throws(VaultError) -> Keychain {
        try Keychain(at: location, creatingIfAbsent: true, in: files)
    }

    func isThere(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }
}
