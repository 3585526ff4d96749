import FoundationEssentials

/// The type of a stored value's bytes. A vault seals it together with the entry, as the entry's kind.
package enum StoredKind: UInt8, CaseIterable {
    case unspecified, text, data, boolean, integer, real, date, array, dictionary, null
}

// In the keychain, the entry's kind is the value's tag, and the entry's bytes are the value's content (see "Values of a
// kind" in Format.md). Strings and data are stored as bytes, and scalars as text for `vault get`.

extension StoredValue {
    /// The value as bytes, for a store that can keep only bytes. The first byte is the type; the content follows.
    ///
    /// Equal values have equal bytes, in every process and on every machine. Like the value, the bytes are in ordinary
    /// memory, which is never wiped.
    ///
    /// - Throws: ``VaultError`` with `invalid` for a value nested more than 511 levels deep or an integer out of range.
    public var bytes: [UInt8] {
        get throws(VaultError) {
            do {
                let (kind, bytes) = try encoded(depth: 0)
                return [kind.rawValue] + bytes
            } catch { throw VaultError(.invalid, "This value cannot be stored: \(error.text).") }
        }
    }

    /// Creates a value from its ``bytes``; nil if no value has these bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard let kind = bytes.first else { return nil }
        guard let value = Array(bytes.dropFirst()).withUnsafeBytes({ StoredValue(kind: kind, $0) }) else { return nil }
        self = value
    }

    package func encoded(for key: String) throws(VaultError) -> (StoredKind, [UInt8]) {
        do { return try encoded(depth: 0) } catch {
            throw VaultError(.invalid, "The value for \"\(key)\" cannot be stored: \(error.text).")
        }
    }

    private func encoded(depth: Int) throws(ConversionProblem) -> (StoredKind, [UInt8]) {
        guard depth < StoredValue.maximumDepth else { throw .tooDeep }
        switch self {
        case .null: return (.null, [])
        case .boolean(let value): return (.boolean, Array(value.description.utf8))
        case .integer(let value):
            guard StoredValue.integers.contains(value) else { throw .outOfBounds(typeName) }
            return (.integer, Array(value.description.utf8))
        case .real(let value): return (.real, Array(value.description.utf8))
        case .string(let value): return (.text, Array(value.utf8))
        case .data(let value): return (.data, Array(value))
        case .untyped(let value): return (.unspecified, Array(value))
        // A date is stored as seconds since 2001, in the shortest decimal that identifies the Double.
        case .date(let value): return (.date, Array(value.timeIntervalSinceReferenceDate.description.utf8))
        case .array(let values):
            var bytes: [UInt8] = []
            for value in values { try value.append(to: &bytes, depth: depth + 1) }
            return (.array, bytes)
        case .dictionary(let values):
            var bytes: [UInt8] = []
            for (key, value) in values.sortedByBytes {
                bytes.appendField(key.utf8)
                try value.append(to: &bytes, depth: depth + 1)
            }
            return (.dictionary, bytes)
        }
    }

    private func append(to bytes: inout [UInt8], depth: Int) throws(ConversionProblem) {
        let (kind, content) = try encoded(depth: depth)
        bytes.append(kind.rawValue)
        bytes.appendField(content)
    }
}

extension [UInt8] {
    /// Appends a field: its length in bytes as LEB128, then the bytes.
    fileprivate mutating func appendField(_ field: some Collection<UInt8>) {
        var count = field.count
        while count >= 0x80 {
            append(UInt8(count & 0x7f) | 0x80)
            count >>= 7
        }
        append(UInt8(count))
        append(contentsOf: field)
    }
}

// Decoding never traps: whatever the bytes, it returns a value or nil.

extension StoredValue {
    /// Reads a value; nil if the kind is unknown or the bytes are invalid for it.
    package init?(kind: UInt8, _ buffer: UnsafeRawBufferPointer, depth: Int = 0) {
        guard depth < StoredValue.maximumDepth, let kind = StoredKind(rawValue: kind) else { return nil }
        var bytes = buffer[...]
        switch kind {
        case .unspecified: self = .untyped(Data(buffer))
        case .data: self = .data(Data(buffer))
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
        case .text, .boolean, .integer, .real, .date:
            guard let text = String(validating: buffer, as: UTF8.self) else { return nil }
            guard let value = StoredValue.scalar(kind, text) else { return nil }
            self = value
        }
    }

    private static func scalar(_ kind: StoredKind, _ text: String) -> StoredValue? {
        switch kind {
        case .text: .string(text)
        case .boolean: Bool(text).map(StoredValue.boolean)
        case .integer: Int128(text).flatMap { integers.contains($0) ? .integer($0) : nil }
        case .real: Double(text).map(StoredValue.real)
        case .date: Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        default: nil
        }
    }

    private static func next(in bytes: inout Slice<UnsafeRawBufferPointer>, depth: Int) -> StoredValue? {
        guard let kind = bytes.popFirst(), let field = bytes.nextField() else { return nil }
        return StoredValue(kind: kind, field, depth: depth)
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Reads a length and returns that many bytes, without copying them, since they may be in guarded memory.
    fileprivate mutating func nextField() -> UnsafeRawBufferPointer? {
        var length = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            guard let byte = popFirst() else { return nil }
            length |= Int(byte & 0x7f) << shift
            if byte < 0x80 { break }
        }
        guard length <= count else { return nil }
        defer { self = dropFirst(length) }
        return UnsafeRawBufferPointer(rebasing: prefix(length))
    }
}
