package import FoundationEssentials
package import SealedLog
import Sealing

extension Keychain {
    /// Checks and figures of the vault.
    public var maintenance: Maintenance { Maintenance(keychain: self) }

    /// Compaction and verification of a vault: see ``Keychain/maintenance``.
    public struct Maintenance: Sendable { let keychain: Keychain }

    /// Rewrites the vault without what its history no longer keeps of removed and replaced values.
    ///
    /// It happens by itself when it is worth it. File systems, SSDs and backups may keep what the old file contained.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable` (the vault is as it was);
    ///   `outcomeUnknown` if the disk failed once the new file was in use; `rolledBack`, `diverged` or `exchanged` if
    ///   the file was replaced meanwhile.
    public func eraseRemoved() throws(VaultError) { _ = try maintenance.compact() }
}

extension Keychain.Maintenance {
    /// Reads and authenticates everything in the vault. Values are opened in guarded memory and passed to no caller.
    ///
    /// - Throws: as ``Keychain/eraseRemoved()``; `damaged` names the first offset, or the values that somebody who can
    ///   open the vault has sealed so that they can be forged.
    public func verify() throws(VaultError) { _ = try verify(progress: nil) }

    /// Returns figures about the vault.
    ///
    /// - Throws: as ``Keychain/item(_:)``.
    public func information() throws(VaultError) -> Information {
        Information(try keychain.translated(keychain.log.information()), of: keychain)
    }
}

// MARK: - For the command

extension Keychain.Maintenance {
    package typealias MemoryState = SealedLog.MemoryState

    /// The state of this machine's memory of the vault; to be read before anything else.
    package var memoryState: MemoryState { keychain.log.memoryState }

    /// Makes the compaction that changes have made due, or waits for the one that they have started.
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

    /// Compacts the vault, and raises the cost of a guess at its key file. The key file stays as it is. Throws as
    /// ``Keychain/eraseRemoved()``; `invalid` for a cost that is out of bounds or not higher, and for a generated key
    /// file; `locked` if the key file cannot be used any more.
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
                "The vault \(keychain.location.vault) was tampered with: different values are sealed under one nonce, "
                    + "so that who knows one of them can forge the others. They are those of "
                    + "\(VaultError.words(report.sharingNonces)). Somebody who can open the vault has done that. "
                    + "Remove that person's key, rotate the data key, and set these values anew.")
        }
        return report
    }

    /// Copies what is intact of the damaged vault at a location, which is only read, into a new one at `target`.
    ///
    /// The new vault has an id and keys of its own, under the same key file. A machine that remembers the old vault
    /// takes the new one in its stead for another vault: accept it once with ``Keychain/Options/acceptedAlarms``.
    /// Whether a value may be out of date is decided by what is lost, and by what this machine remembers of the vault.
    /// Throws ``VaultError`` with `noVault`, `gone`; `locked` if the key opens none of the remaining slots; `damaged`
    /// if nothing but a slot is left; `newerFormat`; `exists` if there is a file at the target; `busy`, `unavailable`.
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
}

extension Keychain.Maintenance {
    /// How far this machine's clock is ahead of the server's, in milliseconds; nil if no server was asked.
    package var clockDifference: Int64? { keychain.storeLocation.report?.clockDifference }

    package func storeFindings() throws(VaultError) -> [StoreFinding] {
        try keychain.translated(keychain.storeLocation.report?.findings() ?? [])
    }
}

extension SalvageReport.LostVersion {
    package var date: Date { Date(milliseconds: modified) }
}

extension LogKeySlot {
    /// The cost of a guess at the key file; nil for a generated one, which cannot be guessed.
    package var cost: Keychain.KeyFileCost? {
        limits.map { Keychain.KeyFileCost(passes: Int(clamping: $0.passes), memory: Int(clamping: $0.memory)) }
    }
    package var created: Date { Date(milliseconds: creation) }
}

extension Keychain {
    /// The cost of a guess at a key file that was not generated: its bytes are stretched with Argon2id (RFC 9106).
    ///
    /// A generated key file cannot be guessed, and is not stretched.
    package struct KeyFileCost: Hashable, Sendable {
        /// Passes over the memory, 1 to 10.
        package var passes: Int
        /// Memory in bytes, at least 8 KiB. Passes times memory is at most 768 MiB.
        package var memory: Int

        package init(passes: Int, memory: Int) {
            self.passes = passes
            self.memory = memory
        }

        /// 3 passes over 64 MiB, the second recommendation of RFC 9106: about 0.1 s.
        package static let standard = KeyFileCost(passes: 3, memory: 64 << 20)

        var limits: KeyDerivation.StretchLimits {
            // A negative number becomes zero, which is out of bounds too.
            KeyDerivation.StretchLimits(passes: UInt64(clamping: passes), memory: UInt64(clamping: memory))
        }
    }
}
