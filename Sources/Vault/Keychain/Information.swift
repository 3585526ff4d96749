public import FoundationEssentials
import SealedLog

extension Keychain.Maintenance {
    /// Figures about a vault, without any name or value.
    public struct Information: Hashable, Sendable {
        /// The path of the vault file, or the URL of a vault in a database.
        public let vault: String
        /// The path of the key file that is looked for; another key may have opened the vault.
        public let keyFile: String
        /// Why the key file is accepted although others than its owner can read it; nil if they cannot.
        public let keyFileSharing: String?
        /// The vault's id, 32 hex digits.
        public let id: String
        /// The time at which the vault was created.
        public let created: Date
        /// The number of the last change.
        public let sequence: UInt64
        /// The number of names that are present. Expired ones count until they are set, removed or dropped.
        public let entries: Int
        /// The size of the file in bytes.
        public let fileSize: Int
        /// Bytes of what is present, and of earlier values that are kept.
        public let liveBytes: Int
        /// Bytes that compaction would free.
        public let deadBytes: Int
        /// Changes since the last compaction.
        public let recordsSinceCheckpoint: Int
        /// The limits on the earlier values that are kept.
        public let history: Keychain.History.Retention
        /// Whether this machine remembers the vault, so that an older one would be noticed.
        public let memoryIsKept: Bool
        /// Problems that fail no call: an unusable rollback memory, a failed compaction. One sentence each.
        public let problems: [String]
        /// Whether the keys are locked against swapping.
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
