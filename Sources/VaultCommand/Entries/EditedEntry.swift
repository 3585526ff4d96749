import FoundationEssentials
import Sealing
import Vault

/// An entry as it was when a person began to edit it.
struct EditedEntry: ~Copyable {
    let name: String
    /// nil for a new entry.
    let kind: Keychain.ValueKind?
    private let stored: SecretBytes
    private let expires: Date?
    /// What the person edits: the value as `get` shows it.
    let shown: SecretBytes

    /// Reads the entry; without a vault it is a new one.
    ///
    /// - Parameter reading: reads the value of an entry.
    /// - Throws: ``CommandError``: refused for what is no text, for what its text does not tell in full, and for an
    ///   attribute.
    static func read(
        _ name: String, in keychain: Keychain?, reading: (String) throws -> SealableValue?
    ) throws -> EditedEntry {
        guard let value = try reading(name) else {
            if let (login, field) = Login.split(name), try keychain?.item(login)?.attributes[field] != nil {
                throw CommandError.refused("\"\(name)\" is an attribute. Only values can be edited.")
            }
            return try EditedEntry(
                name: name, kind: nil, stored: SecretBytes(zeroCount: 0), expires: nil,
                shown: SecretBytes(zeroCount: 0))
        }
        try check(value, name)
        let kind = value.kind
        let stored = try value.bytes.withBytes(SecretBytes.init(copying:))
        let shown = try ValueText.shown(value, of: name)
        guard shown.withUnsafeBytes({ $0.isUTF8 && !$0.contains(0) }) else {
            throw CommandError.refused("The value of \"\(name)\" is not text. Use `vault get` and `vault set` for it.")
        }
        let expires = try keychain?.item(name)?.expires
        return EditedEntry(name: name, kind: kind, stored: stored, expires: expires, shown: shown)
    }

    private static func check(_ value: borrowing SealableValue, _ name: String) throws {
        guard value.kind == .unspecified || ValueType(value.kind) != nil else {
            throw CommandError.refused("The value of \"\(name)\" has a type without a text: \(value.kind).")
        }
        guard [.array, .dictionary].contains(value.kind), try StoredValue(value, of: name).holdsMoreThanJSON else {
            return
        }
        throw CommandError.refused(
            "\"\(name)\" contains dates, data or other values that JSON has no type for. Edited, they would be strings."
        )
    }

    // MARK: The new value

    /// Returns the text without the newline that the editor has added at its end; nil if it is unchanged.
    func changed(_ text: consuming SecretBytes) -> SecretBytes? {
        if text.isEqual(to: shown) { return nil }
        if endsWithEditorsNewline(text) { text.truncate(to: text.count - 1) }
        if text.isEqual(to: shown) { return nil }
        return text
    }

    /// Whether the value lacked a final newline, and the text has one. In a new value of several lines it is a part of
    /// the value, as it is for `set`.
    private func endsWithEditorsNewline(_ text: borrowing SecretBytes) -> Bool {
        let newline = UInt8(ascii: "\n")
        let hadNewline = shown.withUnsafeBytes { $0.last == newline }
        return text.withUnsafeBytes { text in
            text.last == newline && !hadNewline && (shown.count > 0 || !text.dropLast().contains(newline))
        }
    }

    /// The type of `vault set --type` that keeps the value's kind; nil for a value without one.
    var type: ValueType? { kind.flatMap { ValueType($0) } }

    /// Returns what `vault set --expires` has to say so that the value does not outlive its entry: the expiry that the
    /// entry has now, or had, if that is to come.
    func expiry(in keychain: Keychain?) -> Date? {
        let current = (try? keychain?.item(name)?.expires) ?? expires
        return current.flatMap { $0 > Date() ? $0 : nil }
    }

    /// Returns the new value, of the former one's kind.
    func value(_ text: consuming SecretBytes) throws -> SealableValue {
        guard text.withUnsafeBytes(\.isUTF8) else {
            throw CommandError.refused("The new value is not UTF-8; it could not be edited again.")
        }
        guard let kind, let type = ValueType(kind) else { return SealableValue(kind: .unspecified, bytes: text) }
        let value = try type.value(text, for: name)
        guard value.kind == kind else {
            throw CommandError.invalid("The value was of the type \(kind), and is of the type \(value.kind) now.")
        }
        return value
    }

    /// Stores a value, with the attributes and the expiry that the entry has.
    ///
    /// - Throws: ``CommandError``: refused if the entry is not what it was.
    func store(_ value: borrowing SealableValue, in keychain: Keychain) throws {
        try keychain.transaction { transaction in
            guard try isCurrent(in: keychain, &transaction) else {
                throw CommandError.refused("\"\(name)\" was changed meanwhile; nothing was stored.")
            }
            try transaction.put(name, value, expires: keychain.item(name)?.expires)
        }
    }

    /// The transaction fails if the entry changes after its own look, which is the first.
    private func isCurrent(in keychain: Keychain, _ transaction: inout Keychain.Transaction) throws -> Bool {
        guard let current = try transaction.get(name) else { return kind == nil }
        return try kind != nil && current.isEqual(to: stored) && keychain.item(name)?.valueKind == kind
    }
}

extension ValueType {
    /// nil for values without a type, and for those that no text stands for.
    fileprivate init?(_ kind: Keychain.ValueKind) {
        switch kind {
        case .text: self = .string
        case .data: self = .data
        case .boolean: self = .bool
        case .integer: self = .int
        case .real: self = .real
        case .date: self = .date
        case .array, .dictionary: self = .json
        default: return nil
        }
    }
}

extension StoredValue {
    /// Whether something in it comes back from JSON as another type. That a whole number comes back as an integer makes
    /// no difference: programs read it as either.
    fileprivate var holdsMoreThanJSON: Bool {
        switch self {
        case .boolean, .integer, .string: false
        case .real(let value): !value.isFinite
        case .array(let values): values.contains(where: \.holdsMoreThanJSON)
        case .dictionary(let values): values.values.contains(where: \.holdsMoreThanJSON)
        case .null: false
        case .date, .data, .untyped: true
        }
    }
}
