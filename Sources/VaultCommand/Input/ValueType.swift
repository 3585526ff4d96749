import FoundationEssentials
import Vault

/// The types of `set --type`, for programs that read values by typed keys. Values without a type are stored unchanged.
enum ValueType: String, CaseIterable {
    case bool, int, real, string, data, date, json

    /// Converts the user's input to a value.
    ///
    /// - Throws: ``CommandError`` with the expected form if `text` is malformed. The error never contains `text`.
    func value(_ text: consuming SecretBytes, for name: String) throws -> SealableValue {
        switch self {
        case .data: return SealableValue(kind: .data, bytes: text)
        case .string:
            try check(text)
            return SealableValue(kind: .text, bytes: text)
        default:
            guard let value = parsed(text) else { throw wrongForm }
            return try SealableValue(value, for: name)
        }
    }

    func check(_ text: borrowing SecretBytes) throws(CommandError) {
        let isValid =
            switch self {
            case .data: true
            // A string is checked without copying it, so that it stays in guarded memory.
            case .string: text.withUnsafeBytes { $0.isUTF8 }
            default: parsed(text) != nil
            }
        guard isValid else { throw wrongForm }
    }

    private var wrongForm: CommandError {
        .invalid("The value does not have the type \(rawValue); nothing was stored. Write \(form).")
    }

    /// Parses a value, ignoring white space around it. Returns nil for malformed text, and for type `string` or `data`.
    private func parsed(_ text: borrowing SecretBytes) -> StoredValue? {
        text.withUnsafeBytes { bytes in
            let trimmed = UnsafeRawBufferPointer(rebasing: bytes.trimming(while: \.isWhiteSpace))
            switch self {
            case .bool: return StoredValue(kind: Keychain.ValueKind.boolean.rawValue, trimmed)
            case .int: return StoredValue(kind: Keychain.ValueKind.integer.rawValue, trimmed)
            case .real:
                let value = StoredValue(kind: Keychain.ValueKind.real.rawValue, trimmed)
                // A number that is too large is parsed as infinity, which is refused.
                guard case .real(let number) = value, number.isFinite else { return nil }
                return value
            case .date: return String(validating: trimmed, as: UTF8.self).flatMap(Timestamp.date).map(StoredValue.date)
            case .json:
                guard let value = try? StoredValue(json: Array(trimmed)) else { return nil }
                // Only arrays and objects are accepted. Other values have types of their own, and null is not a value.
                switch value {
                case .array, .dictionary: return value
                default: return nil
                }
            case .string, .data: return nil
            }
        }
    }

    private var form: String {
        switch self {
        case .bool: "true or false"
        case .int: "a whole number of at most 64 bits, such as 42"
        case .real: "a decimal number, such as 2.5 or 1e-3"
        case .string: "UTF-8"
        case .data: "any bytes"
        case .date: "UTC, such as 2026-01-31T09:05:00Z, 2026-01-31T09:05:00.120Z or 2026-01-31"
        case .json:
            """
            an array or an object, such as [1, 2] or {"a": true}, without duplicate keys, with integers of at most \
            64 bits, and at most 128 levels
            """
        }
    }
}
