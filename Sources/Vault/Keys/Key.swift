public import FoundationEssentials
import SealedFormat

extension Keychain.VaultKeys {
    /// One of the ways to open a vault.
    public struct Key: Hashable, Sendable {
        /// The kind of secret that opens the vault. Later versions may add kinds.
        public struct Kind: Hashable, Sendable {
            /// A stable identifier of the kind, for lists and scripts.
            public let name: String

            private init(_ name: String) { self.name = name }

            /// A generated key file.
            public static let keyFile = Kind("key-file")
            /// A file that was not generated as a key file. Its bytes are stretched with Argon2id.
            public static let otherFile = Kind("other-file")
            /// A passphrase that a person types.
            public static let passphrase = Kind("passphrase")
            /// A passphrase and a key file, both of which are needed.
            public static let passphraseWithKeyFile = Kind("passphrase-with-key-file")
            /// An age identity, which contains the recipient's private key.
            public static let recipient = Kind("recipient")
            /// The output of a command, used like the contents of a key file.
            public static let command = Kind("command")
            /// A kind that only a later version of the library knows.
            public static let unknown = Kind("unknown")
        }

        /// The key's number, starting at 1. It changes when a key with a lower number is removed.
        public let number: Int
        /// The kind of secret that opens the vault.
        public let kind: Kind
        /// A label for people to read, sealed in the vault.
        public let label: String
        /// The time at which the key was added.
        public let created: Date
        /// The recipient's public key, `age1…`; nil for keys of other kinds.
        public let recipient: String?
        /// The command whose output is the key; nil for keys of other kinds.
        public let command: String?
        /// Whether this keychain was opened with this key.
        public let isInUse: Bool
        /// The cost of guessing the key; nil if it cannot be guessed.
        package let cost: Keychain.KeyFileCost?
        /// An identifier of the key that stays the same when its number changes.
        package let salt: [UInt8]
    }
}

extension Keychain.VaultKeys.Key {
    init(_ slot: LogKeySlot, number: Int) {
        self.number = number
        kind =
            switch slot.kind {
            case .generatedKey where !slot.command.isEmpty, .otherKey where !slot.command.isEmpty: .command
            case .generatedKey: .keyFile
            case .otherKey: .otherFile
            case .passphrase: .passphrase
            case .keyFileAndPassphrase: .passphraseWithKeyFile
            case .recipient: .recipient
            case nil: .unknown
            }
        label = slot.label
        created = slot.created
        recipient = slot.recipient.isEmpty ? nil : slot.recipient
        command = slot.command.isEmpty ? nil : slot.command
        isInUse = slot.isOwn
        cost = slot.cost
        salt = slot.salt
    }

    static func all(_ slots: [LogKeySlot]) -> [Self] { slots.enumerated().map { Self($1, number: $0 + 1) } }

    /// Returns whether `other`, from another state of the vault, is this key, even if a rotation has changed its salt.
    func isSame(as other: Self) -> Bool {
        salt == other.salt || (created, label, recipient) == (other.created, other.label, other.recipient)
    }

    /// A description of the key for the beginning of a sentence: `Key 2 ("laptop")`.
    var words: String {
        "Key \(number) (\(label.isEmpty ? kind.name.replacing("-", with: " ") : label.debugDescription))"
    }
}
