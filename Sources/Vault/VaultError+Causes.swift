extension VaultError {
    /// Details that ``code`` does not distinguish. The command chooses its hints by these causes.
    package var causes: [Cause] { detail as? [Cause] ?? [] }

    package init(_ code: Code, _ message: String, systemError: Int32? = nil, causes: [Cause]) {
        self.init(code, message, systemError: systemError, detail: causes)
    }

    package enum Cause: Hashable, Sendable {
        case homeUnset, oneFileForVaultAndKey, keyFileMissing, keyWrong, keyFileShared, passphraseNeeded, valuesLeft
        case commandUntrusted, identityMissing, fingerprintUnknown, accessLogUnusable, lastMember
        case unexpandedTilde(path: String, isKeyFile: Bool)
        case keySecretMissing(Int)
        case passphraseMissing(Int)
        /// The drop was sealed before the entry with its name was last changed.
        case olderDrop
        /// An entry's policy forbids the read. An expired entry still guards its fields.
        case policySet(String, isExpired: Bool)
        /// Removing or renaming a login would leave one of its fields without the login's policy.
        case fieldLeft(String, policy: String)
        case goneFromDatabase(url: String)
        case damagedInDatabase(url: String)
        /// A database returned another vault under the requested name. No option makes the program accept it.
        case otherName
        case copyInstead(CopiesBeside, isDamaged: Bool)
        case damagedVault(String)
        /// The copy at a path is complete, but a power loss may undo it.
        case unflushedCopy(String)
        case usedUpVault(String)
        /// The file with offline changes that cannot be merged, and whether the key fails to open the file.
        case changesLeft(path: String, isLocked: Bool)
        /// A copy that was to be merged cannot be used. The code is the reason.
        case unusableCopy(Code)
        /// A rollback alarm, its code, and the copies in the vault's folder. `tried` contains the copies that were to
        /// be merged but lack what this machine remembers. `isMerged` reports whether they were merged nevertheless.
        case copiesBeside(CopiesBeside, tried: [String], isMerged: Bool, alarm: Code)
        /// The vault may lack changes that the backup's target has. `isOffline` is true if the vault is the local copy.
        case targetLacked(_ vault: String, target: String, isOffline: Bool)
        /// The saved local copy of a vault in a database, and whether it is a complete vault.
        case copyKept(String, isComplete: Bool)
    }

    var ofMergedCopy: VaultError {
        VaultError(code, message, systemError: systemError, causes: [.unusableCopy(code)] + causes)
    }

    /// Whether the error concerns a copy that was to be merged. Other copies can still be merged.
    package var isOfMergedCopy: Bool { causes.contains { if case .unusableCopy = $0 { true } else { false } } }

    /// Returns this error with `sentence` added to its message, and `cause` added to its causes.
    func followed(by sentence: String, _ cause: Cause?) -> VaultError {
        VaultError(
            code, "\(message) \(sentence)", systemError: systemError, causes: causes + (cause.map { [$0] } ?? []))
    }
}
