extension VaultError {
    /// Details beyond ``code``. The command uses them to choose its hints.
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
        /// The drop was sealed before the last change to the entry that has the drop's name.
        case olderDrop
        /// An entry's policy forbids the read. An expired login's policy still protects its fields.
        case policySet(String, isExpired: Bool)
        /// Removing or renaming a login would leave a field unprotected, because the field has no policy of its own.
        case fieldLeft(String, policy: String)
        case goneFromDatabase(url: String)
        case damagedInDatabase(url: String)
        /// A database returned a different vault under the requested name. No option can make the program accept it.
        case otherName
        case copyInstead(CopiesBeside, isDamaged: Bool)
        case damagedVault(String)
        /// The copy at a path is complete, but a power loss may undo it.
        case unflushedCopy(String)
        case usedUpVault(String)
        /// A file of offline changes that cannot be merged. `isLocked` is true if the key does not open it.
        case changesLeft(path: String, isLocked: Bool)
        /// A copy that was to be merged cannot be used. The error code gives the reason.
        case unusableCopy(Code)
        /// A rollback alarm: its code, and the copies in the vault's folder that are not in `tried`, the copies given
        /// for a merge that did not resolve the alarm. `isMerged` is true if they were merged despite the alarm.
        case copiesBeside(CopiesBeside, tried: [String], isMerged: Bool, alarm: Code)
        /// The backup's target may have changes that the vault (the local copy, if `isOffline`) lacks.
        case targetLacked(_ vault: String, target: String, isOffline: Bool)
        /// The saved local copy of a vault in a database, and whether it is a complete vault.
        case copyKept(String, isComplete: Bool)
    }

    var ofMergedCopy: VaultError {
        VaultError(code, message, systemError: systemError, causes: [.unusableCopy(code)] + causes)
    }

    /// Whether the error concerns only one of the copies to merge. If so, the other copies can still be merged.
    package var isOfMergedCopy: Bool { causes.contains { if case .unusableCopy = $0 { true } else { false } } }

    /// Returns this error with `sentence` added to its message, and `cause` added to its causes.
    func followed(by sentence: String, _ cause: Cause?) -> VaultError {
        VaultError(
            code, "\(message) \(sentence)", systemError: systemError, causes: causes + (cause.map { [$0] } ?? []))
    }
}
