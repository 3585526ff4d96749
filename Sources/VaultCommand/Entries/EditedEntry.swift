import FoundationEssentials
import Vault

/// The state of an entry before it is edited.
struct EditedEntry: ~Copyable {
    let name: String
    /// The kind of the value; nil for a new entry.
    let kind: Keychain.ValueKind?
    private let stored: SecretBytes
    private let expires: Date?
    /// The text that the editor shows: the value as `get` prints it.
    let shown: SecretBytes

    /// Reads the entry `name`. The entry is new if it does not exist or if `keychain` is nil.
    ///
    /// - Parameter reading: reads the value of an entry.
    /// - Throws: ``CommandError`` (refused) if `name` is an attribute, if the value is not text, or if its text form
    ///   would lose type information.
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
            "\"\(name)\" contains dates, data or other values with no JSON type. Editing would turn them into strings."
        )
    }

    /// Returns `text` without the final newline that the editor added, or nil if the text is unchanged.
    func changed(_ text: consuming SecretBytes) -> SecretBytes? {
        if text.isEqual(to: shown) { return nil }
        if endsWithEditorsNewline(text) { text.truncate(to: text.count - 1) }
        if text.isEqual(to: shown) { return nil }
        return text
    }

    /// Returns whether `text` ends with a newline that the editor probably added, because the former value had none.
    /// In a new value with several lines, the final newline is part of the value, as in `vault set`.
    private func endsWithEditorsNewline(_ text: borrowing SecretBytes) -> Bool {
        let newline = UInt8(ascii: "\n")
        let hadNewline = shown.withUnsafeBytes { $0.last == newline }
        return text.withUnsafeBytes { text in
            text.last == newline && !hadNewline && (shown.count > 0 || !text.dropLast().contains(newline))
        }
    }

    /// The type for `vault set --type` that keeps the value's kind; nil if the value has no type.
    var type: ValueType? { kind.flatMap { ValueType($0) } }

    /// Returns the entry's expiry for `vault set --expires`, or nil if it is not in the future. If the entry no longer
    /// has an expiry, uses the one from before the edit, so that the new value does not outlive the entry.
    func expiry(in keychain: Keychain?) -> Date? {
        let current = (try? keychain?.item(name)?.expires) ?? expires
        return current.flatMap { $0 > Date() ? $0 : nil }
    }

    /// Converts the edited text to a value of the original kind.
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

    /// Stores `value`, and keeps the entry's current attributes and expiry.
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

    /// Returns whether the entry in the vault is unchanged since it was read. This is the transaction's first read, so
    /// if another process changes the entry later, the transaction runs again and finds the change.
    private func isCurrent(in keychain: Keychain, _ transaction: inout Keychain.Transaction) throws -> Bool {
        guard let current = try transaction.get(name) else { return kind == nil }
        return try kind != nil && current.isEqual(to: stored) && keychain.item(name)?.valueKind == kind
    }
}

extension ValueType {
    /// Creates the type for a kind of value. Returns nil if values of this kind have no type or no text form.
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
    /// Whether this value, or one inside it, would change its type in a round trip through JSON. A real number such as
    /// 2.0 may become an integer. This does not count, because programs can read it as either type.
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
