public import FoundationEssentials
import SealedLog

extension Keychain.Maintenance {
    /// Statistics about a vault. They include no entry names and no values.
    public struct Information: Hashable, Sendable {
        /// The path of the vault file, or the URL of a vault in a database.
        public let vault: String
        /// The path at which the key file is expected. The vault may have been opened with another key.
        public let keyFile: String
        /// The reason why the key file is accepted although other users can read it; nil if they cannot.
        public let keyFileSharing: String?
        /// The vault's ID, as 32 hex digits.
        public let id: String
        /// The time at which the vault was created.
        public let created: Date
        /// The sequence number of the newest change.
        public let sequence: UInt64
        /// The number of entries. An expired entry counts until it is set again, removed, or dropped by a compaction.
        public let entries: Int
        /// The size of the file in bytes.
        public let fileSize: Int
        /// The size in bytes of the current entries and values, and of the earlier values in the history.
        public let liveBytes: Int
        /// The number of bytes that a compaction would free.
        public let deadBytes: Int
        /// The number of changes since the last compaction.
        public let recordsSinceCheckpoint: Int
        /// The limits on the earlier values that are kept.
        public let history: Keychain.History.Retention
        /// Whether this machine remembers the vault's state, and would therefore detect an older copy.
        public let memoryIsKept: Bool
        /// Problems that do not make a call fail, such as an unusable rollback memory or a failed compaction.
        public let problems: [String]
        /// Whether the encryption keys are locked in memory, so that they are never swapped to disk.
        public let keysAreLockedInMemory: Bool

        init(_ figures: LogInformation, of keychain: Keychain) {
            vault = keychain.location.vault
            keyFile = keychain.location.keyFile
            keyFileSharing = keychain.keyFileSharing?.words
            id = figures.id
            created = Date(milliseconds: figures.creation)
            sequence = figures.sequence
            entries = figures.entries
            fileSize = figures.fileSize
            liveBytes = figures.liveBytes
            deadBytes = figures.deadBytes
            recordsSinceCheckpoint = figures.recordsSinceCheckpoint
            history = Keychain.History.Retention(figures.history)
            memoryIsKept = figures.memoryIsKept
            problems = figures.problems.map { VaultError($0, keychain.location).message }
            keysAreLockedInMemory = figures.keysAreLockedInMemory
        }
    }
}

extension SecretFile.Sharing {
    fileprivate var words: String {
        switch self {
        case .secretFolder: "owned by root, below a folder of secrets"
        case .inMemory: "owned by root, on an in-memory file system"
        case .readOnly: "owned by root, on a file system mounted read-only"
        case .accepted: "owned by root, accepted as it is"
        }
    }
}
