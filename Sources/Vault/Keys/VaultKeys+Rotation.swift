import LinuxSystem
package import SealedLog

extension Keychain.VaultKeys {
    /// The results of a data key rotation.
    public struct Rotation: Hashable, Sendable {
        /// The names of values that differed but had the same nonce, sorted bytewise. Somebody who could open the vault
        /// caused this. Anyone who knew one of the values could forge the others. Each value now has its own nonce.
        /// Even so, set the values again, because they may already be forged.
        public let sharingNonces: [String]
        /// The names with a current or earlier value that was damaged before the rotation, sorted bytewise.
        public let unopened: [String]
        package let generatedKeyFiles: [String]
        /// The keys that open the vault after the rotation.
        package let keys: [Key]
    }

    /// Generates a new data key, and seals everything under it in a new file, which cannot be opened with the old data
    /// key. Other processes can write in the meantime.
    ///
    /// First remove the keys of people who must lose access. The secret of each remaining key is needed again. The
    /// exceptions are the key in use, keys with a command that this machine may run, and recipients, whose public key
    /// is enough. People who open the vault with an age identity must compare the vault's fingerprint again.
    ///
    /// - Parameters:
    ///   - dropped: the keys to remove first. They must not include the key in use.
    ///   - replaced: the keys that get a new secret, for example because other people know the key file.
    ///   - secret: returns the secret of a key file or a passphrase, or the new secret of a replaced key. It is called
    ///     once for each such key. If it returns nil, the rotation fails. A replaced key's new key file is generated if
    ///     there is none at its path.
    /// - Throws: ``VaultError`` with `locked` and the key's number if a key's secret is missing or wrong; `absent` or
    ///   `invalid` if a key cannot be dropped; `exists` if a new secret already opens the vault; `busy` if another
    ///   process has since added a key; the errors of `secret` and ``Keychain/eraseRemoved()``.
    @discardableResult
    public func rotateDataKey(
        dropping dropped: Set<Key> = [], replacing replaced: Set<Key> = [],
        _ secret: (Key) throws(VaultError) -> KeySecret? = { (_) throws(VaultError) in nil }
    ) throws(VaultError) -> Rotation {
        try rotateDataKey(dropping: dropped, replacing: replaced, progress: nil, secret)
    }

    package func rotateDataKey(
        dropping dropped: Set<Key>, replacing replaced: Set<Key>, progress: UpkeepProgress?,
        _ secret: (Key) throws(VaultError) -> KeySecret?
    ) throws(VaultError) -> Rotation {
        try rotateDataKey(
            dropping: dropped, replacing: replaced, progress: progress, secret,
            alsoChanging: { (table) throws(LogError) in for key in dropped { try table.remove(key.salt) } })
    }

    /// - Parameters:
    ///   - gone: the keys that `edit` removes.
    ///   - edit: makes the changes that take effect together with the new data key.
    func rotateDataKey(
        dropping gone: Set<Key>, replacing replaced: Set<Key>, progress: UpkeepProgress?,
        _ secret: (Key) throws(VaultError) -> KeySecret?, alsoChanging edit: (inout SlotTable) throws(LogError) -> Void
    ) throws(VaultError) -> Rotation {
        // All secrets are obtained first, without a lock, so that a repeated slot change does not repeat the prompts.
        var generated: [String] = []
        var hasBegun = false
        do throws(VaultError) {
            let renewals = try renewals(dropping: gone, replacing: replaced, secret, &generated)
            let sharingNonces = try keychain.translated(keychain.log.namesSharingNonces())
            hasBegun = true
            let (report, keys) = try rotate(by: renewals, progress, edit)
            // This machine has opened the vault, so it trusts the fingerprint that results from the rotation.
            keychain.rememberNewFingerprint()
            return Rotation(
                sharingNonces: sharingNonces, unopened: report.unopened, generatedKeyFiles: generated, keys: keys)
        } catch {
            if !hasBegun || error.leavesKeysAlone {
                for path in generated { try? keychain.storeLocation.files.remove(resolvedPath(path)) }
            }
            throw error
        }
    }

    private func rotate(
        by renewals: [[UInt8]: SlotTable.Renewal], _ progress: UpkeepProgress?,
        _ edit: (inout SlotTable) throws(LogError) -> Void
    ) throws(VaultError) -> (report: CompactionReport, keys: [Key]) {
        var isAdded = false
        do throws(VaultError) {
            return try changeKeys(progress) { (table) throws(LogError) in
                let hadOwn = table.own != nil
                try edit(&table)
                if hadOwn, table.own == nil {
                    throw LogError(.invalid, "the key in use cannot be dropped; open the vault with another key first")
                }
                let own = table.own.flatMap { renewals[table.slots[$0].salt] }
                try table.rotate(own: own) { (slot) throws(LogError) in
                    if let renewal = renewals[slot.salt] { return renewal }
                    isAdded = true
                    throw LogError(.conflict)
                }
            }
        } catch {
            guard isAdded else { throw error }
            throw VaultError(.busy, "Another process has just added a key. Nothing was changed; try again.")
        }
    }

    /// Returns the key slots' new contents by salt. Omits the slot in use, unless its key is replaced.
    private func renewals(
        dropping gone: Set<Key>, replacing replaced: Set<Key>, _ secret: (Key) throws(VaultError) -> KeySecret?,
        _ generated: inout [String]
    ) throws(VaultError) -> [[UInt8]: SlotTable.Renewal] {
        let (goneSalts, replacedSalts) = (Set(gone.map(\.salt)), Set(replaced.map(\.salt)))
        var renewals: [[UInt8]: SlotTable.Renewal] = [:]
        for (key, slot) in zip(try all(), try keychain.translated(keychain.log.keySlots()).slots) {
            guard !goneSalts.contains(key.salt), key.salt == slot.salt else { continue }
            if replacedSalts.contains(key.salt) {
                renewals[key.salt] = try replacement(of: key, secret, &generated)
            } else if !key.isInUse {
                renewals[key.salt] = try renewal(of: key, slot, secret)
            }
        }
        return renewals
    }

    private func replacement(
        of key: Key, _ secret: (Key) throws(VaultError) -> KeySecret?, _ generated: inout [String]
    ) throws(VaultError) -> SlotTable.Renewal {
        let given = try given(for: key, secret)
        if let path = given.keyFile, try generateKeyFile(at: path) { generated.append(path) }
        return SlotTable.Renewal(replacingBy: try opening(by: given))
    }

    private func renewal(
        of key: Key, _ slot: KeySlot, _ secret: (Key) throws(VaultError) -> KeySecret?
    ) throws(VaultError) -> SlotTable.Renewal {
        if let recipient = key.recipient { return try renewal(for: recipient) }
        let credential = try credential(of: key, secret)
        guard let renewal = try keychain.location.translated(SlotTable.Renewal(of: slot, openedBy: credential)) else {
            let what = key.command == nil ? "the secret given for it" : "the current output of its command"
            throw VaultError(.locked, "\(key.words) does not match \(what). Nothing was changed.")
        }
        return renewal
    }

    private func credential(
        of key: Key, _ secret: (Key) throws(VaultError) -> KeySecret?
    ) throws(VaultError) -> Credential {
        if let command = key.command {
            let (location, files) = (keychain.location, keychain.storeLocation.files)
            let isAllowed = try location.translated(
                location.allows(command: command, ofVault: keychain.log.vaultID, in: files))
            guard isAllowed else {
                throw VaultError(
                    .locked,
                    "\(key.words) is the output of the command \(command.quoted), which has not been approved on this "
                        + "machine, so it was not run. If you trust it, name it once as the command for the key. "
                        + "Otherwise, drop the key. Nothing was changed.", causes: [.commandUntrusted])
            }
            return try keychain.location.translated(
                .keyFile(KeyCommand(line: command, prompter: keychain.options.pluginPrompter).key()))
        }
        return try opening(by: given(for: key, secret))
    }

    private func opening(by secret: borrowing KeySecret) throws(VaultError) -> Credential {
        try secret.credential(keychain.location, keychain.options.unlocking, in: keychain.storeLocation.files)
    }

    private func given(for key: Key, _ secret: (Key) throws(VaultError) -> KeySecret?) throws(VaultError) -> KeySecret {
        guard let given = try secret(key) else {
            throw VaultError(
                .locked, "\(key.words) cannot be kept without its secret. Provide the secret, or drop the key.",
                causes: [key.kind.isTyped ? .passphraseMissing(key.number) : .keySecretMissing(key.number)])
        }
        return given
    }
}

extension Keychain.VaultKeys.Key.Kind {
    fileprivate var isTyped: Bool { [.passphrase, .passphraseWithKeyFile].contains(self) }
}
