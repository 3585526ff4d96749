extension VaultError {
    /// Details that ``code`` does not distinguish, for the hints that the command adds.
    package var causes: [Cause] { detail as? [Cause] ?? [] }

    package init(_ code: Code, _ message: String, systemError: Int32? = nil, causes: [Cause]) {
        self.init(code, message, systemError: systemError, detail: causes)
    }

    package enum Cause: Hashable, Sendable {
        case homeUnset, oneFileForVaultAndKey, keyFileMissing, keyWrong, keyFileShared, passphraseNeeded, valuesLeft
        case commandUntrusted, identityMissing, fingerprintUnknown, accessLogUnusable
        case unexpandedTilde(path: String, isKeyFile: Bool)
        case keySecretMissing(Int)
        case passphraseMissing(Int)
        /// A drop was sealed before its name was last changed.
        case olderDrop
        /// A field that needs the policy of the login that would leave it.
        case fieldLeft(String, policy: String)
        case goneFromDatabase(url: String)
        case damagedInDatabase(url: String)
        /// A database shows another vault under the name that was asked for. No option accepts that.
        case otherName
        case copyInstead(CopiesBeside, isDamaged: Bool)
        case damagedVault(String)
        /// A copy at a path is complete, and may not outlast a power loss.
        case unflushedCopy(String)
        /// The vault at a path has used up its sequence numbers.
        case usedUpVault(String)
        /// Changes that waited for a server are left in a file; and whether that does not open by the key.
        case changesLeft(path: String, isLocked: Bool)
        /// A copy that was to be merged cannot be; and what it may be, from its code.
        case unusableCopy(Code)
        /// The copies beside a vault that raises an alarm, which is accepted by its code, and the copies that were to
        /// be merged and have not what this machine remembers, or were merged nevertheless.
        case copiesBeside(CopiesBeside, tried: [String], isMerged: Bool, alarm: Code)
        /// The vault lacks, or may lack, something of what it was to replace; and it is what this machine has kept.
        case targetLacked(_ vault: String, target: String, isOffline: Bool)
        /// The file with what this machine had kept of a vault in a database; and whether that is a whole vault.
        case copyKept(String, isComplete: Bool)
    }

    var ofMergedCopy: VaultError {
        VaultError(code, message, systemError: systemError, causes: [.unusableCopy(code)] + causes)
    }

    /// Whether it concerns a copy that was to be merged, so that others can be merged still.
    package var isOfMergedCopy: Bool { causes.contains { if case .unusableCopy = $0 { true } else { false } } }

    /// Returns the same error with one more sentence, and with what that depends on.
    func followed(by sentence: String, _ cause: Cause?) -> VaultError {
        VaultError(
            code, "\(message) \(sentence)", systemError: systemError, causes: causes + (cause.map { [$0] } ?? []))
    }
}
