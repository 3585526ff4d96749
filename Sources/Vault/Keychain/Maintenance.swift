package import FoundationEssentials
package import SealedLog

extension Keychain {
    /// Compaction, verification and statistics of the vault.
    public var maintenance: Maintenance { Maintenance(keychain: self) }

    /// Compaction and verification of a vault; see ``Keychain/maintenance``.
    public struct Maintenance: Sendable { let keychain: Keychain }

    /// Rewrites the vault without the removed and replaced values that its history no longer keeps.
    ///
    /// Compaction also starts automatically when it is due. File systems, SSDs and backups may keep the old contents.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable` (the vault is unchanged); `outcomeUnknown` if the
    ///   disk failed after the new file was in use; `rolledBack`, `diverged` or `exchanged` if the file was replaced.
    public func eraseRemoved() throws(VaultError) { _ = try maintenance.compact() }
}

extension Keychain.Maintenance {
    /// Reads and authenticates everything in the vault. Values are opened in guarded memory but not returned.
    ///
    /// - Throws: the errors of ``Keychain/eraseRemoved()``. For `damaged`, the message names the first damaged offset,
    ///   or values that can be forged because somebody who can open the vault has sealed them with the same nonce.
    public func verify() throws(VaultError) { _ = try verify(progress: nil) }

    /// Returns statistics about the vault.
    ///
    /// - Throws: the same errors as ``Keychain/item(_:)``.
    public func information() throws(VaultError) -> Information {
        Information(try keychain.translated(keychain.log.information()), of: keychain)
    }

    package typealias MemoryState = SealedLog.MemoryState

    /// The state of the rollback memory. Query it before reading any entry, since the first read updates the memory.
    package var memoryState: MemoryState { keychain.log.memoryState }

    /// Runs a compaction if changes have made one due, or waits for a compaction that has already started.
    package func finishUpkeep() {
        keychain.log.finishUpkeep()
        keychain.reportNotices()
    }

    @discardableResult
    package func compact(progress: UpkeepProgress? = nil) throws(VaultError) -> CompactionReport {
        try keychain.waiting(progress) { (timeout) throws(LogError) in
            try keychain.log.compact(timeout: timeout, progress)
        }
    }

    /// Compacts the vault and raises the cost of guessing its key file. The key file stays the same. Throws the errors
    /// of ``Keychain/eraseRemoved()``; `invalid` if `cost` is out of range or not higher than before, or if the key
    /// file was generated; `locked` if the key file can no longer be used.
    @discardableResult
    package func compact(
        raisingCostTo cost: Keychain.KeyFileCost, progress: UpkeepProgress? = nil
    ) throws(VaultError) -> CompactionReport {
        try keychain.waiting(progress) { (timeout) throws(LogError) in
            let key = try Credential.keyFile(keychain.location.readKey(keychain.options.unlocking))
            return try keychain.log.changeKeys(timeout: timeout, progress) { (table) throws(LogError) in
                try table.raise(key, to: cost.limits)
            }
        }
    }

    package func verify(progress: UpkeepProgress?) throws(VaultError) -> VerificationReport {
        let report = try keychain.waiting(progress) { (timeout) throws(LogError) in
            try keychain.log.verify(timeout: timeout, progress)
        }
        guard report.sharingNonces.isEmpty else {
            throw VaultError(
                .damaged,
                "The vault \(keychain.location.vault) was tampered with: different values are sealed with the same "
                    + "nonce, so anyone who knows one of them can forge the others. They are the values of "
                    + "\(VaultError.words(report.sharingNonces)). Someone who can open the vault did this. "
                    + "Remove that person's key, rotate the data key, and set these values again.")
        }
        return report
    }

    /// Copies the intact parts of a damaged vault into a new vault at `target`. The damaged vault is only read.
    ///
    /// The new vault has a new ID and data key, and the same key file opens it. If it replaces the old vault, machines
    /// that remember the old one raise the `exchanged` alarm; accept it once with ``Keychain/Options/acceptedAlarms``.
    /// The report lists values that may be outdated, judging by the lost parts and this machine's rollback memory.
    /// Throws ``VaultError`` with `locked` if the key opens none of the remaining slots, `damaged` if only a slot is
    /// left, `exists` if there is a file at the target; or `noVault`, `gone`, `newerFormat`, `busy`, `unavailable`.
    package static func salvage(
        from location: VaultLocation, to target: String, options: Keychain.Options = Keychain.Options(),
        progress: UpkeepProgress? = nil
    ) throws(VaultError) -> SalvageReport {
        let opening = try KeychainOpening(location, options)
        try VaultLocation.checkWritten(target, "The new vault's path")
        do { return try opening.salvage(to: target, progress) } catch {
            throw opening.refusal.kept ?? VaultError(salvaging: error, to: target, location)
        }
    }

    /// How far this machine's clock is ahead of the server's, in milliseconds; nil if no server was queried.
    package var clockDifference: Int64? { keychain.storeLocation.report?.clockDifference }

    package func storeFindings() throws(VaultError) -> [StoreFinding] {
        try keychain.translated(keychain.storeLocation.report?.findings() ?? [])
    }
}

extension SalvageReport.LostVersion {
    package var date: Date { Date(milliseconds: modified) }
}

extension LogKeySlot {
    /// The cost of guessing the key; nil if it cannot be guessed, as with a generated key file.
    package var cost: Keychain.KeyFileCost? {
        limits.map { Keychain.KeyFileCost(passes: Int(clamping: $0.passes), memory: Int(clamping: $0.memory)) }
    }
    package var created: Date { Date(milliseconds: creation) }
}

extension Keychain {
    /// The cost of each guess at a passphrase or a non-generated key file. Argon2id (RFC 9106) stretches both.
    ///
    /// A generated key file cannot be guessed, and is not stretched.
    package struct KeyFileCost: Hashable, Sendable {
        /// The number of passes over the memory, from 1 to 10.
        package var passes: Int
        /// The memory in bytes, at least 8 KiB. The product of passes and memory is at most 768 MiB.
        package var memory: Int

        package init(passes: Int, memory: Int) {
            self.passes = passes
            self.memory = memory
        }

        /// Three passes of Argon2id over 64 MiB, the second recommendation of RFC 9106. They take about 0.1 s.
        package static let standard = KeyFileCost(passes: 3, memory: 64 << 20)

        var limits: KeyDerivation.StretchLimits {
            // A negative number of passes or bytes becomes zero, which is also out of range.
            KeyDerivation.StretchLimits(passes: UInt64(clamping: passes), memory: UInt64(clamping: memory))
        }
    }
}
