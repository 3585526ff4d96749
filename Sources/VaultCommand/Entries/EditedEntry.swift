import FoundationEssentials
import Sealing
import Vault

/// An entry in its state before editing.
struct EditedEntry: ~Copyable {
    let name: String
    /// The kind of the value; nil for a new entry.
    let kind: Keychain.ValueKind?
    private let stored: SecretBytes
    private let expires: Date?
    /// The text to edit: the value in the form of `get`.
    let shown: SecretBytes

    /// Reads the entry. Without a vault, the entry is new.
    ///
    /// - Parameter reading: reads the value of an entry.
    /// - Throws: ``CommandError`` (refused) for an attribute, for a value that is not text, and for a value whose text
    ///   form would lose types.
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
            throw CommandError.refused("The value of \"\(name)\" is not text. Use `vault get` and `vault set` instead.")
        }
        let expires = try keychain?.item(name)?.expires
        return EditedEntry(name: name, kind: kind, stored: stored, expires: expires, shown: shown)
    }

    private static func check(_ value: borrowing SealableValue, _ name: String) throws {
        guard value.kind == .unspecified || ValueType(value.kind) != nil else {
            throw CommandError.refused("The value of \"\(name)\" cannot be edited as text: its type is \(value.kind).")
        }
        guard [.array, .dictionary].contains(value.kind), try StoredValue(value, of: name).holdsMoreThanJSON else {
            return
        }
        throw CommandError.refused(
            "\"\(name)\" contains dates, data or other values that JSON has no type for. Edited, they would be strings."
        )
    }

    /// Returns the text without the final newline that the editor added, or nil if the text is unchanged.
    func changed(_ text: consuming SecretBytes) -> SecretBytes? {
        if text.isEqual(to: shown) { return nil }
        if endsWithEditorsNewline(text) { text.truncate(to: text.count - 1) }
        if text.isEqual(to: shown) { return nil }
        return text
    }

    /// Returns whether the editor added the text's final newline, which the value lacked. In a new value of several
    /// lines, the newline belongs to the value, as in `vault set`.
    private func endsWithEditorsNewline(_ text: borrowing SecretBytes) -> Bool {
        let newline = UInt8(ascii: "\n")
        let hadNewline = shown.withUnsafeBytes { $0.last == newline }
        return text.withUnsafeBytes { text in
            text.last == newline && !hadNewline && (shown.count > 0 || !text.dropLast().contains(newline))
        }
    }

    /// The type for `vault set --type` that keeps the value's kind; nil for a value without a type.
    var type: ValueType? { kind.flatMap { ValueType($0) } }

    /// Returns the entry's current or former expiry for `vault set --expires`, if it is in the future. With it, the
    /// stored value does not outlive its entry.
    func expiry(in keychain: Keychain?) -> Date? {
        let current = (try? keychain?.item(name)?.expires) ?? expires
        return current.flatMap { $0 > Date() ? $0 : nil }
    }

    /// Returns the new value, with the kind of the former one.
    func value(_ text: consuming SecretBytes) throws -> SealableValue {
        guard text.withUnsafeBytes(\.isUTF8) else {
            throw CommandError.refused("The new value is not UTF-8; it could not be edited again.")
        }
        guard let kind, let type = ValueType(kind) else { return SealableValue(kind: .unspecified, bytes: text) }
        let value = try type.value(text, for: name)
        guard value.kind == kind else {
            throw CommandError.invalid("The type of the value changed from \(kind) to \(value.kind).")
        }
        return value
    }

    /// Stores a value with the current attributes and expiry of the entry.
    ///
    /// - Throws: ``CommandError`` (refused) if the entry has changed since it was read.
    func store(_ value: borrowing SealableValue, in keychain: Keychain) throws {
        try keychain.transaction { transaction in
            guard try isCurrent(in: keychain, &transaction) else {
                throw CommandError.refused("\"\(name)\" was changed in the meantime; nothing was stored.")
            }
            try transaction.put(name, value, expires: keychain.item(name)?.expires)
        }
    }

    /// Returns whether the entry is unchanged. This is the transaction's first read, so that the transaction fails if
    /// the entry changes later.
    private func isCurrent(in keychain: Keychain, _ transaction: inout Keychain.Transaction) throws -> Bool {
        guard let current = try transaction.get(name) else { return kind == nil }
        return try kind != nil && current.isEqual(to: stored) && keychain.item(name)?.valueKind == kind
    }
}

extension ValueType {
    /// Creates the type for a kind, or returns nil for values that have no type or no text form.
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
    /// Whether some value would change its type in a round trip through JSON. A whole number that becomes an integer
    /// does not count, because programs read it as either.
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
