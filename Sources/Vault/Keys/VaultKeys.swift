import LinuxSystem
import SealedLog
public import Sealing

extension Keychain {
    /// The keys of the vault.
    public var vaultKeys: VaultKeys { VaultKeys(keychain: self) }

    /// The ways to open a vault, and its data key: see ``Keychain/vaultKeys``. The names that a store keeps, its keys,
    /// are another matter.
    public struct VaultKeys: Sendable { let keychain: Keychain }
}

extension Keychain.VaultKeys {
    /// Whether opening this keychain has created the key file: the user should then back it up.
    public var hasCreatedKeyFile: Bool { keychain.created.keyFile }

    /// Returns the keys that open the vault.
    ///
    /// - Throws: as ``Keychain/item(_:)``.
    public func all() throws(VaultError) -> [Key] { Key.all(try keychain.translated(keychain.log.keySlots()).shown) }

    /// Returns the vault's fingerprint, in eight groups of four hex digits: people compare it before they open the
    /// vault by an age identity. It changes when the data key is rotated.
    ///
    /// - Throws: as ``Keychain/item(_:)``.
    public func fingerprint() throws(VaultError) -> String {
        Fingerprint.text(try keychain.translated(keychain.log.fingerprint()))
    }

    // MARK: Adding

    /// Adds a key file as a key, and generates it if there is none at the path.
    ///
    /// - Parameter label: for people; at most 256 bytes, sealed in the vault.
    /// - Returns: whether the file was generated.
    /// - Throws: ``VaultError`` with `exists` if the file opens the vault already; `invalid` for a label or a path out
    ///   of bounds, or if there is no room for another key; `locked` if the file cannot be used; as
    ///   ``Keychain/eraseRemoved()``.
    @discardableResult
    public func addKeyFile(at path: String, label: String = "") throws(VaultError) -> Bool {
        try withKeyFile(at: path) { (key) throws(VaultError) in
            try changeKeys { (table) throws(LogError) in try table.addNew(.keyFile(key.copy()), label: label) }
        }
    }

    /// Adds a passphrase as a key, alone or only together with a key file.
    ///
    /// The work of a guess takes about half a second on this machine, but three passphrases together no more than the
    /// bounds of a vault allow; ``all()`` has the actual cost.
    ///
    /// - Parameter keyFile: the path of a key file that is needed too; it is generated if there is none.
    /// - Returns: whether the key file was generated.
    /// - Throws: as ``addKeyFile(at:label:)``; `invalid` for an empty passphrase.
    @discardableResult
    public func addPassphrase(
        _ passphrase: borrowing SecretBytes, withKeyFile keyFile: String? = nil, label: String = ""
    ) throws(VaultError) -> Bool {
        guard passphrase.count > 0 else { throw VaultError(.invalid, "A passphrase cannot be empty.") }
        let text = KeyFileContents(try keychain.location.translated(passphrase.copy()))
        let cost = KeyDerivation.StretchLimits.measured(for: .milliseconds(500))
        guard let keyFile else {
            try changeKeys { (table) throws(LogError) in
                try table.addNew(.passphrase(text.secret.copy()), limits: cost, label: label)
            }
            return false
        }
        return try withKeyFile(at: keyFile) { (key) throws(VaultError) in
            try changeKeys { (table) throws(LogError) in
                try table.addNew(.passphrase(text.secret.copy(), with: key.key), limits: cost, label: label)
            }
        }
    }

    /// Adds the output of a command as a key: it is used as the contents of a key file are.
    ///
    /// The command's text is in the vault, not sealed. The shell runs it when no key file opens the vault, and only on
    /// machines where a person has agreed to it, as on this one now.
    ///
    /// - Throws: as ``addKeyFile(at:label:)``; `locked` if the command fails.
    public func addCommand(_ command: String, label: String = "") throws(VaultError) {
        guard !command.isEmpty else { throw VaultError(.invalid, "The command is empty.") }
        let source = KeyCommand(line: command, prompter: keychain.options.pluginPrompter)
        let key = HeldKeyFile(try keychain.location.translated(source.key()))
        try changeKeys { (table) throws(LogError) in
            try table.addNew(.keyFile(key.copy()), parameters: Array(command.utf8), label: label)
        }
        keychain.remember { record, _ in record.allow(command: command) }
    }

    // MARK: Removing and replacing

    /// Removes a key. Anyone who used it may have kept a copy of the vault, or its data key: only
    /// ``rotateDataKey(dropping:replacing:_:)`` helps against that.
    ///
    /// - Parameter key: one of ``all()``.
    /// - Returns: the keys that open the vault from then on.
    /// - Throws: ``VaultError`` with `absent` if it was removed or replaced since, `invalid` for the last one; as
    ///   ``Keychain/eraseRemoved()``.
    @discardableResult
    public func remove(_ key: Key) throws(VaultError) -> [Key] {
        try changeKeys { (table) throws(LogError) in try table.remove(key.salt) }.keys
    }

    /// Replaces a key file by another one, which opens the vault from then on. It is generated if there is none at the
    /// path. Values are not sealed anew: the former file still opens an old copy, and reveals the data key.
    ///
    /// - Parameter replaced: the key to be replaced; without it, the one that has opened this keychain.
    /// - Returns: whether the file was generated.
    /// - Throws: as ``addKeyFile(at:label:)`` and ``remove(_:)``; `invalid` if the key is no key file.
    @discardableResult
    public func replaceKeyFile(_ replaced: Key? = nil, by path: String) throws(VaultError) -> Bool {
        let chosen = if let replaced { replaced } else { try all().first(where: \.isInUse) }
        guard let replaced = chosen else { throw VaultError(LogError(.slotGone), keychain.location) }
        guard [.keyFile, .otherFile].contains(replaced.kind) else {
            throw VaultError(.invalid, "\(replaced.words) is no key file. Add the file, and remove this key.")
        }
        return try withKeyFile(at: path) { (key) throws(VaultError) in
            try changeKeys { (table) throws(LogError) in
                let credential = try Credential.keyFile(key.copy())
                try table.checkIsNew(credential)
                try table.replace(replaced.salt, by: credential, limits: .recommended)
            }
        }
    }

    // MARK: The table

    /// Returns also the keys that open the vault from then on: to read them would be another chance to fail.
    @discardableResult
    func changeKeys(
        _ progress: UpkeepProgress? = nil, _ edit: (inout SlotTable) throws(LogError) -> Void
    ) throws(VaultError) -> (report: CompactionReport, keys: [Key]) {
        var slots: [LogKeySlot] = []
        let report = try keychain.waiting(progress) { (timeout) throws(LogError) in
            try keychain.log.changeKeys(timeout: timeout, progress) { (table) throws(LogError) in
                try edit(&table)
                slots = table.shown
            }
        }
        return (report, Key.all(slots))
    }

    /// Reads the key file at a path, which is generated if there is none, and runs `body`. One that was generated is
    /// removed again if nothing came of it. Returns whether it was generated.
    private func withKeyFile(
        at path: String, _ body: (HeldKeyFile) throws(VaultError) -> Void
    ) throws(VaultError) -> Bool {
        try keychain.translated(keychain.log.checkThatThisMachineSigns())
        let isGenerated = try generateKeyFile(at: path)
        let files = keychain.storeLocation.files
        do throws(VaultError) {
            try body(keychain.location.heldKeyFile(path, keychain.options.unlocking, in: files))
        } catch {
            if isGenerated, error.leavesKeysAlone { try? files.remove(resolvedPath(path)) }
            throw error
        }
        return isGenerated
    }

    func generateKeyFile(at path: String) throws(VaultError) -> Bool {
        try VaultLocation.check(path, "The key file's path", isKeyFile: true)
        guard resolvedPath(path) != resolvedPath(keychain.location.vault) else {
            throw VaultError(.invalid, "The vault and its key file cannot be one file: \(path). Name another.")
        }
        let files = keychain.storeLocation.files
        guard (try? files.status(at: path)) == nil else { return false }
        try WrittenPath.checkLinks(in: path)
        let deadline = Deadline(after: keychain.options.lockTimeout)
        return try keychain.location.withKeyFile(path).translated(
            KeyFile.create(at: resolvedPath(path), isFolderLocked: false, in: files, until: deadline)) != nil
    }
}

extension VaultError {
    /// Whether a change of the keys that failed has certainly not been made: a key file that was generated for it can
    /// be removed. With any other error, the vault may have it already; one that exists was added by another process.
    var leavesKeysAlone: Bool { [.invalid, .absent, .busy].contains(code) }
}

extension SlotTable {
    /// Adds a key that does not open the vault yet. Throws `exists` otherwise.
    mutating func addNew(
        _ credential: consuming Credential, limits: KeyDerivation.StretchLimits = .recommended,
        parameters: [UInt8] = [], label: String
    ) throws(LogError) {
        try checkIsNew(credential)
        try add(credential, limits: affordable(limits, for: credential), parameters: parameters, label: label)
    }
}
