public import FoundationEssentials
public import SealedLog
import Sealing

extension Keychain {
    /// Figures about a vault.
    public typealias Information = LogInformation

    /// Rewrites the vault without what its history no longer keeps of removed and replaced values.
    ///
    /// It happens by itself when it is worth it. File systems, SSDs and backups may keep what the old file contained.
    ///
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable` (the vault is as it was);
    ///   `outcomeUnknown` if the disk failed once the new file was in use; `rolledBack`, `diverged` or `exchanged` if
    ///   the file was replaced meanwhile.
    public func eraseRemoved() throws(VaultError) { try compact() }

    /// Reads and authenticates everything in the vault. Values are opened in guarded memory and passed to no caller.
    ///
    /// - Throws: as ``eraseRemoved()``; `damaged` names the first offset, or the values that somebody who can open the
    ///   vault has sealed so that they can be forged.
    public func verify() throws(VaultError) { _ = try verify(progress: nil) }

    /// Returns figures about the vault.
    ///
    /// - Throws: as ``item(_:)``.
    public func information() throws(VaultError) -> Information {
        try translated(
            log.information(vault: location.vault, keyFile: location.keyFile, keyFileSharing: keyFileSharing?.words) {
                VaultError($0, location).message
            })
    }
}

// MARK: - For the command

extension Keychain {
    package typealias MemoryState = SealedLog.MemoryState

    /// What this machine remembers of the vault; to be asked before anything is read.
    package var memoryState: MemoryState { log.memoryState }

    /// Makes the compaction that changes have made due, or waits for the one that they have started.
    package func finishUpkeep() {
        log.finishUpkeep()
        reportNotices()
    }

    /// Reads some of what is missing in the copy that this machine keeps: what a command does after its answer that
    /// changes nothing.
    package func completeCopy() { log.completeCopy() }

    /// Rewrites the vault as ``eraseRemoved()`` does.
    @discardableResult
    package func compact(progress: UpkeepProgress? = nil) throws(VaultError) -> CompactionReport {
        try waiting(progress) { (timeout) throws(LogError) in try log.compact(timeout: timeout, progress) }
    }

    /// Compacts the vault, and raises the cost of a guess at its key file. The key file stays as it is.
    ///
    /// - Throws: as ``eraseRemoved()``; `invalid` for a cost that is out of bounds or not higher, and for a generated
    ///   key file; `locked` if the key file cannot be used any more.
    @discardableResult
    package func compact(
        raisingCostTo cost: KeyFileCost, progress: UpkeepProgress? = nil
    ) throws(VaultError) -> CompactionReport {
        try waiting(progress) { (timeout) throws(LogError) in
            let key = try Credential.keyFile(location.readKey(options.unlocking))
            return try log.changeKeys(timeout: timeout, progress) { (table) throws(LogError) in
                try table.raise(key, to: cost.limits)
            }
        }
    }

    /// Verifies the vault as ``verify()`` does.
    package func verify(progress: UpkeepProgress?) throws(VaultError) -> VerificationReport {
        let report = try waiting(progress) { (timeout) throws(LogError) in
            try log.verify(timeout: timeout, progress)
        }
        guard report.sharingNonces.isEmpty else {
            throw VaultError(
                .damaged,
                "The vault \(location.vault) was tampered with: different values are sealed under one nonce, so that who "
                    + "knows one of them can forge the others. They are those of "
                    + "\(VaultError.words(report.sharingNonces)). Somebody who can open the vault has done that. "
                    + "Remove that person's key, rotate the data key, and set these values anew.")
        }
        return report
    }

    /// Copies what is intact of the damaged vault at `places`, which is only read, into a new one at the path `target`.
    ///
    /// The new vault has an id and keys of its own, under the same key file. A machine that remembers the old vault
    /// takes the new one in its stead for another vault: accept it once with ``Options/acceptedAlarms``. Whether a
    /// value may be out of date is decided by what is lost, and by what this machine remembers of the vault.
    ///
    /// - Throws: ``VaultError`` with `noVault`, `gone`; `locked` if the key opens none of the remaining slots;
    ///   `damaged` if nothing but a slot is left; `newerFormat`; `exists` if there is a file at the target; `busy`,
    ///   `unavailable`.
    package static func salvage(
        from location: VaultLocation, to target: String, options: Options = Options(), progress: UpkeepProgress? = nil
    ) throws(VaultError) -> SalvageReport {
        let opening = try KeychainOpening(location, options)
        try VaultLocation.checkWritten(target, "The new vault's path")
        do { return try opening.salvage(to: target, progress) } catch {
            throw opening.refusal.kept ?? VaultError(salvaging: error, to: target, location)
        }
    }
}

extension Keychain {
    /// How far this machine's clock is ahead of the server's, in milliseconds; nil if no server was asked.
    package var clockDifference: Int64? { storeLocation.report?.clockDifference }

    /// Looks at what keeps a vault that is not a file.
    package func storeFindings() throws(VaultError) -> [StoreFinding] { try translated(storeLocation.report?.findings() ?? []) }

    /// What this machine has kept of a vault in a database.
    package var keptCopy: KeptCopy? { storeLocation.report?.keptCopy }

    /// The files with changes that wait for a server under another URL: of another vault, or of this one, whose URL was
    /// another when they were made.
    package var changesElsewhere: [String] {
        let own = ((try? storeLocation.pending()) ?? nil)?.path
        return changes(inFilesEndingIn: FileLocation.pendingEnding).filter { $0 != own }
    }

    /// The files with changes that waited for a server, and of which a merge has refused some.
    package var refusedChanges: [String] { changes(inFilesEndingIn: FileLocation.refusedEnding) }

    private func changes(inFilesEndingIn ending: String) -> [String] {
        guard location.isInDatabase, let folder = location.rollbackMemory else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }
}

extension LogInformation {
    /// When the vault was created.
    public var created: Date { Date(milliseconds: creation) }
}

extension SalvageReport.LostVersion {
    /// When the value was set.
    package var date: Date { Date(milliseconds: modified) }
}

extension LogKeySlot {
    /// The cost of a guess at the key file; nil for a generated one, which cannot be guessed.
    package var cost: Keychain.KeyFileCost? {
        limits.map { Keychain.KeyFileCost(passes: Int(clamping: $0.passes), memory: Int(clamping: $0.memory)) }
    }
    /// When the slot was created.
    package var created: Date { Date(milliseconds: creation) }
}

extension SecretFile.Sharing {
    /// A part of a sentence.
    fileprivate var words: String {
        switch self {
        case .secretFolder: "root's, below a folder of secrets"
        case .inMemory: "root's, on a file system in memory"
        case .readOnly: "root's, on a file system mounted read-only"
        case .accepted: "root's, accepted as it is"
        }
    }
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

        /// Creates a cost.
        package init(passes: Int, memory: Int) {
            (self.passes, self.memory) = (passes, memory)
        }

        /// 3 passes over 64 MiB, the second recommendation of RFC 9106: about 0.1 s.
        package static let standard = KeyFileCost(passes: 3, memory: 64 << 20)

        var limits: KeyDerivation.StretchLimits {
            // A negative number becomes zero, which is out of bounds too.
            KeyDerivation.StretchLimits(passes: UInt64(clamping: passes), memory: UInt64(clamping: memory))
        }
    }
}
