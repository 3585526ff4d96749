import LinuxSystem
import SealedLog
import Sealing

// The key of the vault at a location, and the commands that the user has agreed to.

extension VaultLocation {
    /// Whether the key is in the key file, and not given by the program or a command.
    func readsKeyFile(_ options: UnlockingOptions) -> Bool { options.keyFileContents == nil && keyCommand == nil }

    func readKey(
        _ options: UnlockingOptions, in fileSystem: any FileSystem = PosixFileSystem()
    ) throws(LogError) -> KeyFile {
        if let contents = options.keyFileContents { return try KeyFile.parse(contents.secret, from: "The given key") }
        if let keyCommand { return try KeyCommand(line: keyCommand, prompter: options.pluginPrompter).key() }
        return try readKeyFile(keyFile, options, in: fileSystem)
    }

    func readKeyFile(
        _ path: String, _ options: UnlockingOptions, in fileSystem: any FileSystem = PosixFileSystem()
    ) throws(LogError) -> KeyFile {
        try KeyFile.read(
            path, secretFolders: secretFolders, acceptsShared: options.acceptsSharedKeyFile, in: fileSystem)
    }
}

extension VaultLocation {
    /// Changes what this machine trusts of a vault; nothing without a memory.
    func trust(
        _ vaultID: [UInt8], in files: any FileSystem, behind flush: () throws(LogError) -> Void = {},
        _ change: (inout TrustRecord) -> Void
    ) throws(Notice) {
        guard let rollbackMemory else { return }
        try TrustRecord.update(ofVault: vaultID, memoryFolder: rollbackMemory, in: files, behind: flush, change)
    }

    /// Returns what this machine trusts of a vault. Throws `untrustworthy`.
    func trusted(_ vaultID: [UInt8], in files: any FileSystem) throws(LogError) -> TrustRecord {
        do { return try TrustRecord.read(ofVault: vaultID, memoryFolder: rollbackMemory, in: files) } catch {
            guard case .memoryUnusable(let reason) = error else { throw LogError(.untrustworthy) }
            throw LogError(.untrustworthy, reason)
        }
    }

    /// Returns whether a person has agreed that a command is run for a key of a vault. Throws `untrustworthy`.
    func allows(command: String, ofVault vaultID: [UInt8], in files: any FileSystem) throws(LogError) -> Bool {
        if command.isSame(as: keyCommand) { return true }
        return try trusted(vaultID, in: files).allows(command: command)
    }
}

/// A key that was read, for closures, which cannot capture what cannot be copied.
final class HeldKeyFile: Sendable {
    let key: KeyFile

    init(_ key: consuming KeyFile) { self.key = key }

    func copy() throws(LogError) -> KeyFile { try key.copy() }
}

extension VaultLocation {
    /// The same location with another key file, for messages about it.
    func withKeyFile(_ path: String) -> VaultLocation {
        var location = self
        (location.keyFile, location.keyCommand) = (path, nil)
        return location
    }

    func heldKeyFile(
        _ path: String, _ options: UnlockingOptions, in files: any FileSystem
    ) throws(VaultError) -> HeldKeyFile {
        HeldKeyFile(try withKeyFile(path).translated(readKeyFile(path, options, in: files)))
    }
}
