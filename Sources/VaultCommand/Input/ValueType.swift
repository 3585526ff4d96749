import Vault

/// The type of a value that a program reads by a key of that type, such as `KeychainStorable<Int>`. Without one, the
/// bytes are stored as they are, and can be read as a string or as data.
enum ValueType: String, CaseIterable {
    case int, bool, real

    /// What the text of a value must be.
    private var form: String {
        switch self {
        case .int: "an integer of at most 64 bits, such as 42"
        case .bool: "true or false"
        case .real: "a number, such as 2.5"
        }
    }

    /// Returns the value that a text stands for. The error does not repeat the text, which may be a secret.
    func value(of text: borrowing SecretBytes) throws(CommandError) -> StoredValue {
        if let text = text.unsafeString(), let value = value(of: text) { return value }
        throw .invalid("The value is not \(form), as --type=\(rawValue) says; nothing was stored.")
    }

    private func value(of text: String) -> StoredValue? {
        switch self {
        case .int: Int64(text).map { .integer(Int128($0)) } ?? UInt64(text).map { .integer(Int128($0)) }
        case .bool: Bool(text).map(StoredValue.boolean)
        case .real: Double(text).flatMap { $0.isFinite ? .real($0) : nil }
        }
    }
}
