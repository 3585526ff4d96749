import FoundationEssentials
import Vault

/// The text form of a value whose bytes are not human-readable: a date, an array or a dictionary. `set --type` accepts
/// this form, except for dates outside the years 0 to 9999.
enum ValueText {
    /// Returns `get`'s output: the text form of a date, array or dictionary, else the bytes, still in guarded memory.
    static func shown(_ value: consuming SealableValue, of name: String) throws -> SecretBytes {
        switch value.kind {
        case .date:
            guard case .date(let date) = try StoredValue(value, of: name) else { break }
            return try SecretBytes(utf8: text(date))
        case .array, .dictionary, .null: return try SecretBytes(copying: json(StoredValue(value, of: name)))
        default: break
        }
        return value.takeBytes()
    }

    /// Returns a value as JSON, with sorted keys.
    static func json(_ value: StoredValue, isIndented: Bool = false) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
        return Array(try encoder.encode(JSONForm(value: value)))
    }

    /// Returns a date as text. A date outside the years 0 to 9999 is shown as it is stored: in seconds since 2001.
    private static func text(_ date: Date) -> String {
        let text = Timestamp.text(date)
        return Timestamp.date(text) == nil ? date.timeIntervalSinceReferenceDate.description : text
    }

    /// A value to encode as JSON. Types that JSON lacks become strings: dates, data (as base64) and non-finite numbers.
    private struct JSONForm: Encodable {
        let value: StoredValue

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case .null: try container.encodeNil()
            case .boolean(let value): try container.encode(value)
            case .integer(let value):
                // Every stored integer fits into Int64 or UInt64.
                if let value = Int64(exactly: value) { return try container.encode(value) }
                try container.encode(UInt64(clamping: value))
            case .real(let value): try value.isFinite ? container.encode(value) : container.encode(value.description)
            case .string(let value): try container.encode(value)
            case .data(let value), .untyped(let value): try container.encode(value.base64EncodedString())
            case .date(let value): try container.encode(ValueText.text(value))
            case .array(let values): try container.encode(values.map(JSONForm.init))
            case .dictionary(let values): try container.encode(values.mapValues(JSONForm.init))
            }
        }
    }
}
