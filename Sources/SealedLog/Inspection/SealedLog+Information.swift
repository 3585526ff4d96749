import LinuxSystem
package import Sealing

/// Figures about a vault, without any name or value.
package struct LogInformation: Sendable {
    /// The vault's id, 32 hex digits.
    package let id: String
    /// The time of the vault's creation in milliseconds since 1970.
    package let creation: UInt64
    package let sequence: UInt64
    /// The number of names that are present. Expired ones count until they are set, removed or dropped.
    package let entries: Int
    /// The size of the file in bytes.
    package let fileSize: Int
    /// The bytes of present entries and values, and of earlier values that are kept.
    package let liveBytes: Int
    package let deadBytes: Int
    /// The number of changes since the last compaction.
    package let recordsSinceCheckpoint: Int
    package let keySlots: [LogKeySlot]
    package let history: KeptHistory
    /// Whether this machine remembers the vault, so that an older one would be noticed.
    package let memoryIsKept: Bool
    /// Problems that fail no call but should be known: a memory that cannot be used, a compaction that failed.
    package let problems: [Notice]
    /// Whether the keys are locked against swapping.
    package let keysAreLockedInMemory: Bool
}

extension SealedLog {
    /// The state of this machine's memory of a vault.
    package enum MemoryState: Sendable {
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
}

extension SealedLog {
    /// Returns the same as ``UnlockedVault/fingerprint()``.
    package func fingerprint() throws(LogError) -> [UInt8] { try keys.fingerprint(of: vaultID) }

    /// Returns a keyed hash of a value, 32 bytes. Equal values of this vault and its copies have equal hashes. Without
    /// the data key, the hash reveals nothing.
    package func fingerprint(ofValue value: borrowing SecretBytes) throws(LogError) -> [UInt8] {
        try value.withUnsafeBytes { (value) throws(LogError) in
            try keys.withKey(.fingerprint) { (key) throws(LogError) in try translated(KeyedHash.hash(value, key: key)) }
        }
    }

    /// Returns the secret key of the vault's drop box, 32 bytes; Format.md, "Keys".
    package func dropBoxKey() throws(LogError) -> SecretBytes {
        try keys.withKey(.dropBox) { (key) throws(LogError) in try translated(SecretBytes(copyOf: key, isKey: true)) }
    }
}

extension SealedLog {
    /// Returns the names of values whose boxes differ and share a nonce, sorted bytewise. Throws what reading throws.
    package func namesSharingNonces() throws(LogError) -> [String] {
        try withSnapshot(isSure: true) { (view) throws(LogError) in try view.namesSharingNonces() }
    }
}

extension SealedLog {
    /// Returns the log's newest position as one word. If two machines exchange it independently of the store, they
    /// notice when the store shows them different histories.
    package func headText() throws(LogError) -> String {
        let head = try read(isSure: true) { (view) throws(LogError) in view.head }
        let authenticator = Hexadecimal.string(of: head.authenticator.bytes)
        return "\(Hexadecimal.string(of: vaultID)):\(head.sequence):\(authenticator)"
    }

    /// Returns whether this history includes another machine's newest position; nil if the position is later than this
    /// log's.
    ///
    /// - Throws: `invalid` for text that is not a position, or that belongs to another vault.
    package func includesHead(_ text: String) throws(LogError) -> Inclusion? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual(Hexadecimal.string(of: vaultID)),
            let sequence = UInt64(parts[1]), let bytes = Hexadecimal.bytes(parts[2], count: Authenticator.size)
        else { throw LogError(.invalid, "that is not a position in this vault's history") }
        let position = LogPosition(sequence: sequence, authenticator: bytes.withUnsafeBytes { Authenticator($0) })
        return try read(isSure: true) { (view) throws(LogError) in
            sequence <= view.head.sequence ? try view.includes(position) : nil
        }
    }
}
