import LinuxSystem
import SealedLog

extension Keychain {
    /// The keys of the vault.
    public var vaultKeys: VaultKeys { VaultKeys(keychain: self) }

    /// The keys that open a vault, and its data key; see ``Keychain/vaultKeys``. They are unrelated to the names in a
    /// store, which are also called keys.
    public struct VaultKeys: Sendable { let keychain: Keychain }
}

extension Keychain.VaultKeys {
    /// Whether opening this keychain has created the key file, which the user should then back up.
    public var hasCreatedKeyFile: Bool { keychain.created.keyFile }

    /// Returns the keys that open the vault.
    ///
    /// - Throws: the same errors as ``Keychain/item(_:)``.
    public func all() throws(VaultError) -> [Key] { Key.all(try keychain.translated(keychain.log.keySlots()).shown) }

    /// Returns the vault's fingerprint, in eight groups of four hex digits. People compare it before they open the
    /// vault with an age identity. It changes when the data key is rotated.
    ///
    /// - Throws: the same errors as ``Keychain/item(_:)``.
    public func fingerprint() throws(VaultError) -> String {
        Fingerprint.text(try keychain.translated(keychain.log.fingerprint()))
    }

    /// Adds a key file as a key, and generates the file if there is none at the path.
    ///
    /// - Parameter label: a label for people to read, up to 256 bytes, sealed in the vault.
    /// - Returns: whether the file was generated.
    /// - Throws: ``VaultError`` with `exists` if the file already opens the vault; `invalid` if the label or the path
    ///   is not valid, or if there is no room for another key; `locked` if the file cannot be used; the errors of
    ///   ``Keychain/eraseRemoved()``.
    @discardableResult
    public func addKeyFile(at path: String, label: String = "") throws(VaultError) -> Bool {
        try withKeyFile(at: path) { (key) throws(VaultError) in
            try changeKeys { (table) throws(LogError) in try table.addNew(.keyFile(key.copy()), label: label) }
        }
    }

    /// Adds a passphrase as a key, either alone or together with a key file.
    ///
    /// Each guess at the passphrase takes about half a second on this machine. It takes less if the vault's limits
    /// would otherwise leave no room for three such passphrases.
    ///
    /// - Parameter keyFile: the path of a key file that is also needed. The file is generated if it does not exist.
    /// - Returns: whether the key file was generated.
    /// - Throws: the same errors as ``addKeyFile(at:label:)``; `invalid` for an empty passphrase.
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

    /// Adds the output of a command as a key. The output is used like the contents of a key file.
    ///
    /// The vault stores the command's text unsealed. If no key file opens the vault, the shell runs the command, but
    /// only on machines where a person has approved it. Adding the command counts as approval on this machine.
    ///
    /// - Throws: the same errors as ``addKeyFile(at:label:)``; `locked` if the command fails.
    public func addCommand(_ command: String, label: String = "") throws(VaultError) {
        guard !command.isEmpty else { throw VaultError(.invalid, "The command is empty.") }
        let source = KeyCommand(line: command, prompter: keychain.options.pluginPrompter)
        let key = HeldKeyFile(try keychain.location.translated(source.key()))
        try changeKeys { (table) throws(LogError) in
            try table.addNew(.keyFile(key.copy()), parameters: Array(command.utf8), label: label)
        }
        keychain.remember { record, _ in record.allow(command: command) }
    }

    /// Removes a key. Anyone who used it may have kept a copy of the vault or its data key. Only
    /// ``rotateDataKey(dropping:replacing:_:)`` protects against that.
    ///
    /// - Parameter key: one of ``all()``.
    /// - Returns: the keys that still open the vault.
    /// - Throws: ``VaultError`` with `absent` if the key has already been removed or replaced, `invalid` for the last
    ///   key; the same errors as ``Keychain/eraseRemoved()``.
    @discardableResult
    public func remove(_ key: Key) throws(VaultError) -> [Key] {
        try changeKeys { (table) throws(LogError) in try table.remove(key.salt) }.keys
    }

    /// Replaces a key file with the one at `path`, which is generated if it does not exist. The data key stays the
    /// same, so the former file still opens old copies, and thus reveals the data key.
    ///
    /// - Parameter replaced: the key to replace, by default the key that has opened this keychain.
    /// - Returns: whether the file was generated.
    /// - Throws: the errors of ``addKeyFile(at:label:)`` and ``remove(_:)``; `invalid` if the key is not a key file.
    @discardableResult
    public func replaceKeyFile(_ replaced: Key? = nil, by path: String) throws(VaultError) -> Bool {
        let chosen = if let replaced { replaced } else { try all().first(where: \.isInUse) }
        guard let replaced = chosen else { throw VaultError(LogError(.slotGone), keychain.location) }
        guard [.keyFile, .otherFile].contains(replaced.kind) else {
            throw VaultError(.invalid, "\(replaced.words) is not a key file. Add the new file, then remove this key.")
        }
        return try withKeyFile(at: path) { (key) throws(VaultError) in
            try changeKeys { (table) throws(LogError) in
                let credential = try Credential.keyFile(key.copy())
                try table.checkIsNew(credential)
                try table.replace(replaced.salt, by: credential, limits: .recommended)
            }
        }
    }

    /// Changes the key slots. Also returns the keys after the change, since a separate read could fail.
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

    /// Runs `body` with the key file at a path, which is generated first if there is none. If `body` then fails with an
    /// error that rules out a change of the keys, removes the generated file. Returns whether the file was generated.
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
            throw VaultError(.invalid, "The vault and its key file cannot be the same file: \(path). Use another path.")
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
    /// Whether the call that threw this error has certainly left the keys unchanged, so that a key file generated for
    /// it can be removed. After other errors, the key may have been added; in the case of `exists`, by another process.
    var leavesKeysAlone: Bool { [.invalid, .absent, .busy].contains(code) }
}

extension SlotTable {
    /// Adds a key. Throws `exists` if it already opens the vault.
    mutating func addNew(
        _ credential: consuming Credential, limits: KeyDerivation.StretchLimits = .recommended,
        parameters: [UInt8] = [], label: String
    ) throws(LogError) {
        try checkIsNew(credential)
        try add(credential, limits: affordable(limits, for: credential), parameters: parameters, label: label)
    }
}
