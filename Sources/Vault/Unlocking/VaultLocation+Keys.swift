import LinuxSystem
import SealedLog

// These methods read a vault's key, and record which commands the user has approved as its source.

extension VaultLocation {
    /// Returns whether the key is read from the key file, instead of being supplied by the program or a command.
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

    /// Changes this machine's trust record of a vault. Does nothing if there is no rollback memory.
    func trust(
        _ vaultID: [UInt8], in files: any FileSystem, behind flush: () throws(LogError) -> Void = {},
        _ change: (inout TrustRecord) -> Void
    ) throws(Notice) {
        guard let rollbackMemory else { return }
        try TrustRecord.update(ofVault: vaultID, memoryFolder: rollbackMemory, in: files, behind: flush, change)
    }

    /// Returns this machine's trust record of a vault. Throws `untrustworthy`.
    func trusted(_ vaultID: [UInt8], in files: any FileSystem) throws(LogError) -> TrustRecord {
        do { return try TrustRecord.read(ofVault: vaultID, memoryFolder: rollbackMemory, in: files) } catch {
            guard case .memoryUnusable(let reason) = error else { throw LogError(.untrustworthy) }
            throw LogError(.untrustworthy, reason)
        }
    }

    /// Returns whether a user has approved a command as a source of a vault's key. Throws `untrustworthy`.
    func allows(command: String, ofVault vaultID: [UInt8], in files: any FileSystem) throws(LogError) -> Bool {
        if command.isSame(as: keyCommand) { return true }
        return try trusted(vaultID, in: files).allows(command: command)
    }
}

/// A key file that has been read. This is a class because closures cannot capture noncopyable values.
final class HeldKeyFile: Sendable {
    let key: KeyFile

    init(_ key: consuming KeyFile) { self.key = key }

    func copy() throws(LogError) -> KeyFile { try key.copy() }
}

extension VaultLocation {
    /// Returns the same location with another key file, for messages about that file.
    func withKeyFile(_ path: String) -> VaultLocation {
        var location = self
        (location.keyFile, location.keyCommand) = (path, nil)
        location.isOwnKeyFile = false
        return location
    }

    func heldKeyFile(
        _ path: String, _ options: UnlockingOptions, in files: any FileSystem
    ) throws(VaultError) -> HeldKeyFile {
        HeldKeyFile(try withKeyFile(path).translated(readKeyFile(path, options, in: files)))
    }
}
