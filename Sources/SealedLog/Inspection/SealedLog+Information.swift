import LinuxSystem
package import Sealing

/// A description of a vault's state, without any entry's name or value.
package struct LogInformation: Sendable {
    /// The vault ID as 32 hex digits.
    package let id: String
    /// The time of the vault's creation in milliseconds since 1970.
    package let creation: UInt64
    package let sequence: UInt64
    /// The number of names with a value. An expired one counts until a change or compaction replaces or drops it.
    package let entries: Int
    /// The size of the file in bytes.
    package let fileSize: Int
    /// The size in bytes of the current entries, their values, and the earlier values that are kept.
    package let liveBytes: Int
    package let deadBytes: Int
    /// The number of changes since the last compaction.
    package let recordsSinceCheckpoint: Int
    package let keySlots: [LogKeySlot]
    package let history: KeptHistory
    /// Whether this machine remembers the vault, so that it would detect an older copy.
    package let memoryIsKept: Bool
    /// Problems that do not make calls fail, but that the user should know about, such as a failed compaction.
    package let problems: [Notice]
    /// Whether the keys are locked in memory, so that they cannot be swapped to disk.
    package let keysAreLockedInMemory: Bool
}

extension SealedLog {
    /// The state of this machine's rollback memory of a vault.
    package enum MemoryState: Sendable {
        case off
        case none
        /// The rollback memory is incomplete, or none of the vault's keys authenticates it.
        case torn
        case kept
    }

    /// The current state of the rollback memory. Query it before the vault is read, since the first read changes it.
    package var memoryState: MemoryState {
        guard let memory else { return .off }
        guard let newest = memory.newest() else { return .none }
        return memory.seen(in: newest) == nil ? .torn : .kept
    }

    package func information() throws(LogError) -> LogInformation {
        let (view, manifest) = try withSnapshot { (view) throws(LogError) in (view, try view.manifest()) }
        let totals = view.totals ?? manifest.totals
        var problems = memory?.problems() ?? []
        let isMemoryUsable = problems.isEmpty
        if let upkeep = memory?.upkeep(), upkeep.origin == view.origin.authenticator {
            problems.append(.compactionFailed(upkeep.error))
        }
        let keys = view.keys
        return LogInformation(
            id: Hexadecimal.string(of: vaultID), creation: manifest.created, sequence: view.head.sequence,
            entries: Int(clamping: totals.entries), fileSize: Int(clamping: try view.store.size()),
            liveBytes: Int(clamping: totals.liveBytes), deadBytes: Int(clamping: totals.deadBytes),
            recordsSinceCheckpoint: Int(clamping: view.head.sequence - view.origin.sequence),
            keySlots: zip(view.header.slots, manifest.labels).map { slot, label in
                LogKeySlot(slot, label, isOwn: slot.salt == keys.slot?.salt)
            },
            history: view.header.history, memoryIsKept: isMemoryUsable && memory?.seen() != nil, problems: problems,
            keysAreLockedInMemory: keys.isLockedInMemory)
    }

    /// Returns the vault's fingerprint, as ``UnlockedVault/fingerprint()`` does.
    package func fingerprint() throws(LogError) -> [UInt8] { try keys.fingerprint(of: vaultID) }

    /// Returns a keyed 32-byte hash of a value. Equal values in this vault and its copies have equal hashes. Without
    /// the data key, the hash reveals nothing about the value.
    package func fingerprint(ofValue value: borrowing SecretBytes) throws(LogError) -> [UInt8] {
        try value.withUnsafeBytes { (value) throws(LogError) in
            try keys.withKey(.fingerprint) { (key) throws(LogError) in try translated(KeyedHash.hash(value, key: key)) }
        }
    }

    /// Returns the 32-byte secret key of the vault's drop box. See Format.md, "Keys".
    package func dropBoxKey() throws(LogError) -> SecretBytes {
        try keys.withKey(.dropBox) { (key) throws(LogError) in try translated(SecretBytes(copyOf: key, isKey: true)) }
    }

    /// Returns the names of values whose boxes differ although they share a nonce, sorted bytewise.
    package func namesSharingNonces() throws(LogError) -> [String] {
        try withSnapshot(isSure: true) { (view) throws(LogError) in try view.namesSharingNonces() }
    }

    /// Returns the log's newest position as text without spaces. If two machines exchange this text over another
    /// channel, they can detect whether the store shows them different histories.
    package func headText() throws(LogError) -> String {
        let head = try read(isSure: true) { (view) throws(LogError) in view.head }
        let authenticator = Hexadecimal.string(of: head.authenticator.bytes)
        return "\(Hexadecimal.string(of: vaultID)):\(head.sequence):\(authenticator)"
    }

    /// Returns whether this history includes another machine's newest position; nil if this log ends before it.
    ///
    /// - Throws: `invalid` for text that is not a position in this vault.
    package func includesHead(_ text: String) throws(LogError) -> Inclusion? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual(Hexadecimal.string(of: vaultID)),
            let sequence = UInt64(parts[1]), let bytes = Hexadecimal.bytes(parts[2], count: Authenticator.size)
        else { throw LogError(.invalid, "this is not a position in this vault's history") }
        let position = LogPosition(sequence: sequence, authenticator: bytes.withUnsafeBytes { Authenticator($0) })
        return try read(isSure: true) { (view) throws(LogError) in
            sequence <= view.head.sequence ? try view.includes(position) : nil
        }
    }
}
