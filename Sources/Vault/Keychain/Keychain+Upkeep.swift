public import FoundationEssentials
import SealedLog

extension Keychain {
    /// What a compaction came to: sizes of the file in bytes.
    public struct Compaction: Hashable, Sendable {
        /// The old file's.
        public let sizeBefore: Int
        /// The new file's.
        public let sizeAfter: Int

        init(_ report: CompactionReport) {
            (sizeBefore, sizeAfter) = (Int(report.sizeBefore), Int(report.sizeAfter))
        }
    }

    /// What a verification went through.
    public struct Verification: Hashable, Sendable {
        /// Names that are present.
        public let entries: Int
        /// Records since the last compaction.
        public let records: Int
        /// Bytes that were authenticated.
        public let bytes: Int
    }

    /// Writes the vault anew without what is dead: values that were replaced or removed.
    ///
    /// It happens by itself when enough is dead. File systems, SSDs and backups may keep what the old file held.
    ///
    /// - Parameter progress: tells another thread how far it has come.
    /// - Throws: ``VaultError`` with `damaged`, `busy`, `unavailable` (the vault is as it was); `rolledBack`,
    ///   `diverged` or `exchanged` if the file was replaced meanwhile.
    @discardableResult
    public func compact(progress: UpkeepProgress? = nil) throws(VaultError) -> Compaction {
        Compaction(
            try working(progress) { (timeout) throws(LogError) in
                try log.compact(timeout: timeout, progress?.counter)
            })
    }

    /// Compacts the vault, and raises what a guess at its key file costs. The key file stays as it is.
    ///
    /// - Throws: as ``compact(progress:)``; `invalid` for a cost that is out of bounds or not higher, and for a
    ///   generated key file; `locked` if the key file cannot be used any more.
    @discardableResult
    public func compact(
        raisingCostTo cost: KeyFileCost, progress: UpkeepProgress? = nil
    ) throws(VaultError) -> Compaction {
        Compaction(
            try working(progress) { (timeout) throws(LogError) in
                let key = try KeychainOpening(places, options).readKey()
                return try log.compact(raising: key, to: cost.limits, timeout: timeout, progress?.counter)
            })
    }

    /// Reads and authenticates everything in the vault. Values are opened in guarded memory and given to nobody.
    ///
    /// - Parameter progress: tells another thread how far it has come.
    /// - Throws: ``VaultError`` with `damaged`, naming the first place; `busy`, `unavailable`; `rolledBack`, `diverged`
    ///   or `exchanged` if the file was replaced meanwhile.
    public func verify(progress: UpkeepProgress? = nil) throws(VaultError) -> Verification {
        let report = try working(progress) { (timeout) throws(LogError) in
            try log.verify(timeout: timeout, progress?.counter)
        }
        return Verification(entries: Int(report.entries), records: Int(report.records), bytes: Int(report.bytes))
    }

    private func working<Result>(
        _ progress: UpkeepProgress?, _ body: (_ timeout: Duration) throws(LogError) -> Result
    ) throws(VaultError) -> Result {
        let result = try waiting(body)
        progress?.counter.finish()
        return result
    }
}

/// Figures about a vault; no name and no value among them.
public struct Information: Sendable, Hashable {
    /// The path of the vault.
    public let vault: String
    /// The path of the key file that opened it.
    public let keyFile: String
    /// Why the key file serves although others than its owner can read it; nil if they cannot.
    public let keyFileSharing: String?
    /// The vault's id, 32 hex digits.
    public let id: String
    /// When the vault was made.
    public let created: Date
    /// The number of the last change.
    public let sequence: UInt64
    /// Names that are present.
    public let entries: Int
    /// The size of the file in bytes.
    public let fileSize: Int
    /// Bytes that hold what is present.
    public let liveBytes: Int
    /// Bytes that compaction would free.
    public let deadBytes: Int
    /// Changes since the last compaction.
    public let recordsSinceCheckpoint: Int
    /// The ways to open the vault.
    public let keySlots: [KeySlotInformation]
    /// Whether this machine remembers the vault, so that an older one would be noticed.
    public let memoryIsKept: Bool
    /// What keeps no call from being done, and should be known: a memory that cannot be used, a compaction that failed.
    /// One sentence each.
    public let problems: [String]
    /// Whether the keys are locked against swapping.
    public let keysAreLockedInMemory: Bool
}

/// One way to open a vault.
public struct KeySlotInformation: Sendable, Hashable {
    /// "generated key file" or "key file, Argon2id".
    public let kind: String
    /// What a guess at the key file costs; nil for a generated one, which cannot be guessed.
    public let cost: KeyFileCost?
    /// What the slot was called when it was made; it is sealed in the file.
    public let label: String
    /// When the slot was made.
    public let created: Date
}

extension Keychain {
    /// Figures about the vault.
    ///
    /// - Throws: as ``item(_:)``.
    public func information() throws(VaultError) -> Information {
        let known = try translated { () throws(LogError) in try log.information() }
        return Information(
            vault: places.vault, keyFile: places.keyFile, keyFileSharing: keyFileSharing?.words, id: known.vaultID,
            created: Date(milliseconds: known.created),
            sequence: known.sequence, entries: Int(clamping: known.totals.entries),
            fileSize: Int(clamping: known.fileSize), liveBytes: Int(clamping: known.totals.liveBytes),
            deadBytes: Int(clamping: known.totals.deadBytes),
            recordsSinceCheckpoint: Int(clamping: known.recordsSinceCheckpoint),
            keySlots: known.slots.map {
                KeySlotInformation(
                    kind: $0.kind, cost: $0.limits.map(KeyFileCost.init), label: $0.label,
                    created: Date(milliseconds: $0.created))
            },
            memoryIsKept: known.remembers, problems: known.problems.map { VaultError($0, places).message },
            keysAreLockedInMemory: log.keysAreLockedInMemory)
    }
}

extension KeyFile.Sharing {
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
