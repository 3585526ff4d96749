import FoundationEssentials

// Total: whatever the bytes are, decoding gives a value or nil.

extension StoredValue {
    /// nil if the kind is unknown, or the bytes are none of its kind.
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
    /// As many bytes as the length before them says.
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
