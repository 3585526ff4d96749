import FoundationEssentials
import SealedLog

/// The type of a value in the keychain, as far as it was given when the value was stored.
public struct ValueKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bytes without a type, as the command stores them.
    public static let unspecified = ValueKind(rawValue: 0)
    /// UTF-8.
    public static let text = ValueKind(rawValue: 1)
    /// Bytes that were stored as such.
    public static let data = ValueKind(rawValue: 2)

    public var description: String {
        switch self {
        case .unspecified: "unspecified"
        case .text: "text"
        case .data: "data"
        default: "kind \(rawValue)"
        }
    }
}

// How the keychain stores a value: the entry's kind is the tag, the bytes are the value. A string and data are just
// their bytes, and scalars are text, so that `vault get` shows them. Arrays and dictionaries nest tagged values:
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

// Writing.

extension StoredValue {
    /// - Throws: ``VaultError/Code/invalid`` if the value is nested too deeply, or contains an integer out of bounds.
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
            var writer = ByteWriter()
            for value in values { try value.append(to: &writer, depth: depth + 1) }
            return writer.bytes
        case .dictionary(let values):
            var writer = ByteWriter()
            for (key, value) in values.sortedByBytes {
                writer.text(key)
                try value.append(to: &writer, depth: depth + 1)
            }
            return writer.bytes
        }
    }

    private func append(to writer: inout ByteWriter, depth: Int) throws(ConversionProblem) {
        let own = try bytes(depth: depth)
        writer.byte(kind.rawValue)
        writer.varint(own.count)
        writer.append(own)
    }
}

// Reading. Total: whatever the bytes are, it returns a value or nil.

extension StoredValue {
    /// nil if the kind is unknown, or the bytes are not of its kind.
    init?(kind: ValueKind, _ bytes: UnsafeRawBufferPointer) {
        var bytes = bytes[...]
        self.init(kind, &bytes, depth: 0)
    }

    private init?(_ kind: ValueKind, _ bytes: inout Slice<UnsafeRawBufferPointer>, depth: Int) {
        guard depth < StoredValue.maximumDepth else { return nil }
        switch kind {
        case .unspecified: self = .untyped(Data(bytes))
        case .data: self = .data(Data(bytes))
        case .null: self = .null
        case .array:
            var values: [StoredValue] = []
            while !bytes.isEmpty {
                guard let value = StoredValue.next(in: &bytes, depth: depth + 1) else { return nil }
                values.append(value)
            }
            self = .array(values)
        case .dictionary:
            var values: [String: StoredValue] = [:]
            while !bytes.isEmpty {
                guard let key = bytes.nextField().flatMap({ String(validating: $0, as: UTF8.self) }),
                    let value = StoredValue.next(in: &bytes, depth: depth + 1),
                    values.updateValue(value, forKey: key) == nil
                else { return nil }
            }
            self = .dictionary(values)
        default:
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            self.init(kind, text)
        }
    }

    private init?(_ kind: ValueKind, _ text: String) {
        switch kind {
        case .text: self = .string(text)
        case .boolean:
            guard text == "true" || text == "false" else { return nil }
            self = .boolean(text == "true")
        case .integer:
            guard let value = Int128(text), StoredValue.integers.contains(value) else { return nil }
            self = .integer(value)
        case .real:
            guard let value = Double(text) else { return nil }
            self = .real(value)
        case .date:
            guard let value = Double(text) else { return nil }
            self = .date(Date(timeIntervalSinceReferenceDate: value))
        default: return nil
        }
    }

    private static func next(in bytes: inout Slice<UnsafeRawBufferPointer>, depth: Int) -> StoredValue? {
        guard let kind = bytes.popFirst(), var field = bytes.nextField() else { return nil }
        return StoredValue(ValueKind(rawValue: kind), &field, depth: depth)
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Reads as many bytes as the length before them says. They stay in guarded memory, which `ByteReader` would copy
    /// them from.
    fileprivate mutating func nextField() -> Slice<UnsafeRawBufferPointer>? {
        var length = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            guard let byte = popFirst() else { return nil }
            length |= Int(byte & 0x7f) << shift
            if byte < 0x80 { break }
        }
        guard length <= count else { return nil }
        defer { self = dropFirst(length) }
        return prefix(length)
    }
}
