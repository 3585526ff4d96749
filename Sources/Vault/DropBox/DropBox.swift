package import Age
public import FoundationEssentials
import LinuxSystem
import SealedLog

// A drop is a value that is sealed for a vault. The sender, such as a CI job or a new colleague, cannot open the vault,
// so the vault's owner stores the value. A drop is an age file in a documented format that `age` itself can produce.

extension Keychain {
    /// The vault's drop box, for values that were sealed without the vault's keys.
    public var dropBox: DropBox { DropBox(keychain: self) }

    /// An inbox for values from people who cannot open the vault; see ``Keychain/dropBox``.
    public struct DropBox: Sendable { let keychain: Keychain }
}

extension Keychain.DropBox {
    /// Returns the public key of the vault's drop box, `age1…`. It need not be kept secret: values can be sealed with
    /// it, but not opened. Rotating the data key changes it, and makes drops for the former public key unreadable.
    ///
    /// - Throws: the same errors as ``Keychain/item(_:)``.
    public func recipient() throws(VaultError) -> String {
        let key = try keychain.translated(keychain.log.dropBoxKey())
        do throws(AgeError) {
            guard let recipient = try Identity(secretKey: key).recipient else { throw AgeError(.malformed) }
            return recipient.text
        } catch { throw VaultError(error, "The drop box cannot be used") }
    }

    /// Seals a value for a vault, or for a person who will store the value in one.
    ///
    /// - Parameters:
    ///   - name: the name of the new entry.
    ///   - recipient: a vault's ``recipient()``, or a person's age recipient.
    /// - Returns: the bytes of an age file, for ``open(_:)``.
    /// - Throws: ``VaultError`` with `invalid` for an unusable name, value, attribute or recipient; `unavailable`.
    public static func seal(
        _ name: String, _ value: borrowing SecretBytes, attributes: [String: String] = [:], to recipient: String
    ) throws(VaultError) -> [UInt8] {
        try seal(name, value, kind: .unspecified, attributes: attributes, to: recipient, asking: NoPrompts())
    }

    package static func seal(
        _ name: String, _ value: borrowing SecretBytes, kind: Keychain.ValueKind, attributes: [String: String],
        to recipient: String, asking prompter: any PluginPrompter
    ) throws(VaultError) -> [UInt8] {
        guard let entry = EntryName(name) else { throw Naming.name.refusal(of: name) }
        try Naming.name.checkLooks(name)
        guard value.count <= Keychain.maximumValueSize else {
            throw VaultError(.invalid, "A value may have at most \(Keychain.maximumValueSize >> 20) MiB.")
        }
        let attributes = try Keychain.checked(attributes)
        try checkLooks(attributes)
        guard attributes.reduce(name.utf8.count, { $0 + $1.key.utf8.count + $1.value.utf8.count }) <= 7_500 else {
            throw VaultError(.invalid, "An entry's name and attributes may have at most 7,500 bytes in total.")
        }
        let plaintext: SecretBytes
        do {
            plaintext = try DropContents(name: entry, kind: kind.rawValue, attributes: attributes, value: value.copy())
                .encoded()
        } catch {
            throw error.code == .invalid ? VaultError(.invalid, "Not possible: \(error.detail).") : .noGuardedMemory
        }
        do { return try AgeFile.seal(plaintext, to: [Recipient(recipient)], asking: prompter) } catch {
            throw VaultError(error, "The recipient cannot be used")
        }
    }

    /// A drop that has been opened but not stored.
    ///
    /// The sender is unknown, so check the name and the attributes before you store the value.
    public final class Drop: Sendable {
        fileprivate let contents: DropContents

        fileprivate init(_ contents: consuming DropContents) { self.contents = contents }

        /// The name of the new entry.
        public var name: String { contents.name.text }
        /// The value's size in bytes.
        public var size: Int { contents.value.count }
        /// The attributes of the new entry, which describe the value.
        public var attributes: [String: String] { Keychain.dictionary(contents.attributes) }
        /// The time at which the value was sealed, by the sender's clock.
        public var created: Date { Date(milliseconds: contents.created) }
    }

    /// Opens a drop from ``seal(_:_:attributes:to:)`` without storing it. The drop must have been sealed for the
    /// vault's drop box, or for an identity in the location's identity file.
    ///
    /// - Throws: ``VaultError`` with `locked` if the file was sealed for another recipient; `invalid` if the file is
    ///   not a drop; `damaged` or `unavailable`.
    public func open(_ file: [UInt8]) throws(VaultError) -> Drop {
        let plaintext = try plaintext(of: file)
        let drop: Drop
        do throws(LogError) {
            let contents = try DropContents(parsing: plaintext)
            guard contents.hasReadableValue else { throw LogError(.damaged, "no program could read its value") }
            drop = Drop(contents)
        } catch {
            guard error.code == .damaged else { throw .noGuardedMemory }
            throw VaultError(.invalid, "This is an age file, but not a drop for a vault: \(error.detail).")
        }
        // The sender is unknown, and may have chosen a name or attributes that imitate existing ones.
        try Naming.name.checkLooks(drop.name)
        try Self.checkLooks(drop.contents.attributes)
        return drop
    }

    /// Checks each attribute's key, and checks that no two keys look alike. Throws `invalid`.
    private static func checkLooks(_ attributes: [Attribute]) throws(VaultError) {
        for (number, attribute) in attributes.enumerated() {
            try Naming.attribute.checkLooks(attribute.key)
            if attributes[..<number].contains(where: { $0.key.looksLike(attribute.key) }) {
                throw VaultError(.invalid, "Invalid attributes: two keys look alike.")
            }
        }
    }

    private func plaintext(of file: [UInt8]) throws(VaultError) -> SecretBytes {
        let key = try keychain.translated(keychain.log.dropBoxKey())
        do throws(AgeError) {
            return try AgeFile.open(
                file, with: IdentityFile(Identity(secretKey: key)), asking: keychain.options.pluginPrompter)
        } catch {
            guard error.code == .noMatch, let path = keychain.location.identityFile else { throw Self.refusal(error) }
            let identities = try keychain.translated(
                SlotIdentities(
                    at: path, keychain.location.secretFolders, keychain.options.unlocking, in: PosixFileSystem()))
            do { return try identities.open(file, asking: keychain.options.pluginPrompter) } catch {
                throw Self.refusal(error)
            }
        }
    }

    private static func refusal(_ error: AgeError) -> VaultError {
        switch error.code {
        case .noMatch:
            VaultError(.locked, "This drop was sealed for another vault, or before the data key was rotated.")
        case .damaged: VaultError(.damaged, "This drop was changed or truncated: \(error.detail).")
        default: VaultError(error, "This is not a drop")
        }
    }

    /// Stores the values and attributes of drops atomically.
    ///
    /// - Parameters:
    ///   - isReplacing: whether to replace existing values of the same names. They then become earlier values.
    ///   - acceptsOlder: whether to accept a drop that was sealed, by its sender's clock, before the entry with its
    ///     name was last changed or removed. Someone may have held it back to restore a former value.
    /// - Throws: ``VaultError`` with `exists` if a name has a value and `isReplacing` is false, or a drop is older and
    ///   `acceptsOlder` is false; the errors of ``Keychain/set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    public func collect(
        _ drops: [Drop], replacing isReplacing: Bool = false, acceptingOlder acceptsOlder: Bool = false
    ) throws(VaultError) {
        try keychain.transaction { (transaction) throws(VaultError) in
            for drop in drops {
                // This read makes the transaction run again if another process changes the entry before the commit.
                if try transaction.exists(drop.name), !isReplacing {
                    throw VaultError(.exists, "\"\(drop.name)\" already exists.")
                }
            }
            if !acceptsOlder { try checkAges(of: drops) }
            for drop in drops {
                try transaction.set(
                    drop.name, to: drop.contents.value, kind: Keychain.ValueKind(rawValue: drop.contents.kind),
                    attributes: drop.attributes, expires: nil)
            }
        }
    }

    /// Throws `exists` if a drop was sealed before the entry with its name was last changed or removed, or before the
    /// previous drop with the same name.
    package func checkAges(of drops: [Drop]) throws(VaultError) {
        var times: [EntryName: UInt64] = [:]
        for drop in drops {
            guard let name = EntryName(try keychain.shownName(drop.name)) else { continue }
            let former =
                if let time = times[name] { time } else {
                    try keychain.translated(keychain.log.history(name))?.modified
                }
            guard drop.contents.created >= former ?? 0 else {
                throw VaultError(
                    .exists,
                    "By its sender's clock, this drop was sealed before \"\(drop.name)\" was last changed. Storing it "
                        + "may bring back a value that has since been replaced or removed.", causes: [.olderDrop])
            }
            times[name] = drop.contents.created
        }
    }
}

extension DropContents {
    /// Whether the value's bytes are valid for its kind. Data and untyped bytes are always valid.
    fileprivate var hasReadableValue: Bool {
        switch Keychain.ValueKind(rawValue: kind) {
        case .unspecified, .data: true
        case .text: value.withUnsafeBytes { $0.isUTF8 }
        default: value.withUnsafeBytes { StoredValue(kind: kind, $0) } ?? .null != .null
        }
    }
}

extension Naming {
    /// Checks that a name cannot be mistaken for another one. Throws the same errors as ``check(_:)``, and `invalid`
    /// for a name that contains an invisible character, or a space that people might overlook.
    fileprivate func checkLooks(_ text: String) throws(VaultError) {
        try check(text)
        if let unseen = text.unseenPart {
            throw VaultError(.invalid, "Invalid \(rawValue): \(unseen), so it may look like another one.")
        }
    }
}
