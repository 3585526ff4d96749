import FoundationEssentials

// How the keychain keeps a value: the entry's kind is the tag, the bytes are the value. A string and data are just their bytes, and
// scalars are text, so that `vault get` shows them. Arrays and dictionaries nest tagged values:
//
//     value = kind (1 byte) ‖ length (LEB128) ‖ bytes
//     array = value*
//     dictionary = (length (LEB128) ‖ key ‖ value)*, keys ascending as bytes

extension ValueKind {
    static let boolean = ValueKind(rawValue: 3)
    static let integer = ValueKind(rawValue: 4)
    static let real = ValueKind(rawValue: 5)
    static let date = ValueKind(rawValue: 6)
    static let array = ValueKind(rawValue: 7)
    static let dictionary = ValueKind(rawValue: 8)
    static let null = ValueKind(rawValue: 9)
}

extension StoredValue {
    /// Deeper nesting is refused: reading it would need as deep a stack.
    static let maximumDepth = 512

    /// What an integer type can hold: -2^63 to 2^64 - 1.
    static let integers = Int128(Int64.min)...Int128(UInt64.max)

    /// - Throws: ``VaultError/Code/invalid`` if the value is nested too deeply, or an integer out of bounds is in it.
    func encoded(for key: String) throws(VaultError) -> (ValueKind, [UInt8]) {
        do { return (kind, try bytes(depth: 0)) } catch {
            throw VaultError(.invalid, "The value for \"\(key)\" cannot be stored: \(error.text).")
        }
    }

    private var kind: ValueKind {
        switch self {
        case .null: .null
        case .boolean: .boolean
        case .integer: .integer
        case .real: .real
        case .string: .text
        case .data: .data
        case .date: .date
        case .array: .array
        case .dictionary: .dictionary
        case .untyped: .unspecified
        }
    }

    private func bytes(depth: Int) throws(ConversionProblem) -> [UInt8] {
        guard depth < StoredValue.maximumDepth else { throw .tooDeep }
        switch self {
        case .null: return []
        case .boolean(let value): return Array((value ? "true" : "false").utf8)
        case .integer(let value):
            guard StoredValue.integers.contains(value) else { throw .outOfBounds(typeName) }
            return Array(value.description.utf8)
        case .real(let value): return Array(value.description.utf8)
        case .string(let value): return Array(value.utf8)
        case .data(let value), .untyped(let value): return Array(value)
        // The shortest decimal that is this very Double: seconds since 2001.
        case .date(let value): return Array(value.timeIntervalSinceReferenceDate.description.utf8)
        case .array(let values):
            var bytes: [UInt8] = []
            for value in values { try value.append(to: &bytes, depth: depth + 1) }
            return bytes
        case .dictionary(let values):
            var bytes: [UInt8] = []
            for (key, value) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                bytes.append(length: key.utf8.count)
                bytes += key.utf8
                try value.append(to: &bytes, depth: depth + 1)
            }
            return bytes
        }
    }

    private func append(to bytes: inout [UInt8], depth: Int) throws(ConversionProblem) {
        let own = try self.bytes(depth: depth)
        bytes.append(kind.rawValue)
        bytes.append(length: own.count)
        bytes += own
    }
}

extension [UInt8] {
    fileprivate mutating func append(length: Int) {
        var rest = length
        while rest >= 0x80 {
            append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}
