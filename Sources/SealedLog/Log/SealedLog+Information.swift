package import Sealing

/// Figures about a vault, without any name or value.
public struct LogInformation: Hashable, Sendable {
    /// The path of the vault.
    public let vault: String
    /// The path of the default key file. Another key may have opened the vault.
    public let keyFile: String
    /// The reason why the key file is accepted although others can read it; nil if only its owner can.
    public let keyFileSharing: String?
    /// The vault's id, 32 hex digits.
    public let id: String
    /// The time of the vault's creation in milliseconds since 1970.
    package let creation: UInt64
    /// The sequence number of the last change.
    public let sequence: UInt64
    /// The number of names that are present. Expired ones count until they are set, removed or dropped.
    public let entries: Int
    /// The size of the file in bytes.
    public let fileSize: Int
    /// The bytes of present entries and values, and of earlier values that are kept.
    public let liveBytes: Int
    /// The bytes that compaction would free.
    public let deadBytes: Int
    /// The number of changes since the last compaction.
    public let recordsSinceCheckpoint: Int
    /// The ways to open the vault.
    package let keySlots: [LogKeySlot]
    /// The limits on the history of a name.
    package let history: KeptHistory
    /// Whether this machine remembers the vault, so that an older one would be noticed.
    public let memoryIsKept: Bool
    /// Problems that fail no call but should be known, one sentence each: a memory that cannot be used, a compaction
    /// that failed.
    public let problems: [String]
    /// Whether the keys are locked against swapping.
    public let keysAreLockedInMemory: Bool
}

extension SealedLog {
    /// The state of this machine's memory of a vault.
    package enum MemoryState: Sendable {
        /// There is no folder for the memory.
        case off
        case none
        /// The memory was not written completely, or not with the vault's key.
        case torn
        case kept
    }

    /// The present state of the memory. The first read remembers the vault, so this must be called before.
    package var memoryState: MemoryState {
        guard let memory else { return .off }
        guard let newest = memory.newest() else { return .none }
        return memory.seen(in: newest) == nil ? .torn : .kept
    }

    /// Returns figures about the vault.
    ///
    /// - Parameter describe: describes a problem in one sentence. No lock is held.
    package func information(
        vault: String, keyFile: String, keyFileSharing: String?, describe: (Notice) -> String
    ) throws(LogError) -> LogInformation {
        let (view, manifest) = try withSnapshot { (view) throws(LogError) in (view, try view.manifest()) }
        let totals = view.totals ?? manifest.totals
        var problems = memory?.problems() ?? []
        let isMemoryUsable = problems.isEmpty
        if let upkeep = memory?.upkeep(), upkeep.origin == view.origin.authenticator {
            problems.append(.compactionFailed(upkeep.error))
        }
        let keys = view.keys
        return LogInformation(
            vault: vault, keyFile: keyFile, keyFileSharing: keyFileSharing,
            id: Hexadecimal.string(of: vaultID), creation: manifest.created, sequence: view.head.sequence,
            entries: Int(clamping: totals.entries), fileSize: Int(clamping: try view.store.size()),
            liveBytes: Int(clamping: totals.liveBytes), deadBytes: Int(clamping: totals.deadBytes),
            recordsSinceCheckpoint: Int(clamping: view.head.sequence - view.origin.sequence),
            keySlots: zip(view.header.slots, manifest.labels).map { slot, label in
                LogKeySlot(slot, label, isOwn: slot.salt == keys.slot?.salt)
            },
            history: view.header.history,
            memoryIsKept: isMemoryUsable && memory?.seen() != nil, problems: problems.map(describe),
            keysAreLockedInMemory: keys.isLockedInMemory)
    }
}

extension SealedLog {
    /// Returns the same as ``UnlockedVault/fingerprint()``.
    package func fingerprint() throws(LogError) -> [UInt8] { try keys.fingerprint(of: vaultID) }

    /// Returns a keyed hash of a value, 32 bytes. Equal values of this vault and its copies have equal hashes. Without
    /// the data key, the hash reveals nothing.
    package func fingerprint(ofValue value: borrowing SecretBytes) throws(LogError) -> [UInt8] {
        try value.withUnsafeBytes { (value) throws(LogError) in
            try keys.withKey(.fingerprint) { (key) throws(LogError) in
                try translated(KeyedHash.hash(value, key: key))
            }
        }
    }

    /// Returns the secret key of the vault's drop box, 32 bytes; Format.md, "Keys".
    package func dropBoxKey() throws(LogError) -> SecretBytes {
        try keys.withKey(.dropBox) { (key) throws(LogError) in try translated(SecretBytes(copyOf: key, isKey: true)) }
    }
}
