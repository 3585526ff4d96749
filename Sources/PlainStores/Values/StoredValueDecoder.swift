extension StoredValue {
    /// Decodes the value with the type's `init(from:)`. Throws `DecodingError`, and the errors of that initializer.
    func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        try StoredValueDecoder(value: self).decode(type)
    }
}

/// A decoder for a ``StoredValue``. It is as strict about types as the conversions of primitives.
private struct StoredValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: StoredValue
    var codingPath: [any CodingKey] = []
    var depth = 0
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .dictionary(let fields) = value else { throw mismatch([String: StoredValue].self) }
        return KeyedDecodingContainer(KeyedDecoding(decoder: self, fields: fields))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let values) = value else { throw mismatch([StoredValue].self) }
        return UnkeyedDecoding(decoder: self, values: values)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { if case .null = value { true } else { false } }
    func decode<Value: Decodable & StoredAsSelf>(_ type: Value.Type) throws -> Value { try primitive(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try wideInteger() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try wideInteger() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let whole = type as? any StoredAsSelf.Type, let value = try primitive(whole) as? Value { return value }
        guard depth + 1 < StoredValue.maximumDepth else { throw corrupted(.tooDeep) }
        return try Value(from: StoredValueDecoder(value: value, codingPath: codingPath, depth: depth + 1))
    }

    func inside(_ value: StoredValue, at key: any CodingKey) -> StoredValueDecoder {
        StoredValueDecoder(value: value, codingPath: codingPath + [key], depth: depth)
    }

    private func primitive<Primitive: StorablePrimitive>(_ type: Primitive.Type) throws -> Primitive {
        if let primitive = Primitive(stored: value) { return primitive }
        throw value.typeName == Primitive.primitiveName ? corrupted(.outOfBounds(value.typeName)) : mismatch(type)
    }

    private func wideInteger<Integer: FixedWidthInteger>() throws -> Integer {
        guard case .integer(let integer) = value else { throw mismatch(Int64.self) }
        guard let exact = Integer(exactly: integer) else { throw corrupted(.outOfBounds(value.typeName)) }
        return exact
    }

    private func mismatch<Primitive: StorablePrimitive>(_ type: Primitive.Type) -> DecodingError {
        let context = context(.mismatch(expected: Primitive.primitiveName, found: value.typeName))
        return decodeNil() ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    private func corrupted(_ problem: ConversionProblem) -> DecodingError { .dataCorrupted(context(problem)) }

    func context(_ problem: ConversionProblem) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath, debugDescription: problem.text, underlyingError: problem)
    }
}

private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: StoredValueDecoder
    let fields: [String: StoredValue]
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { fields.keys.compactMap(Key.init(stringValue:)) }
    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try field(key).decodeNil() }
    func decode<Value: Decodable & StoredAsSelf>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).decode(type)
    }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try field(key).decode(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try field(key).decode(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try field(key).decode(type) }
    func nestedContainer<Inner>(keyedBy type: Inner.Type, forKey key: Key) throws -> KeyedDecodingContainer<Inner> {
        try field(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try field(key).unkeyedContainer()
    }
    func superDecoder() -> any Decoder { fieldOrNull(UndeclaredKey.superclass) }
    func superDecoder(forKey key: Key) -> any Decoder { fieldOrNull(key) }

    private func field(_ key: Key) throws -> StoredValueDecoder {
        if let value = fields[key.stringValue] { return decoder.inside(value, at: key) }
        throw DecodingError.keyNotFound(key, decoder.context(.missing(key.shown)))
    }

    /// Returns a field's decoder. A missing field is decoded as null, since a superclass without fields is not stored.
    private func fieldOrNull(_ key: any CodingKey) -> StoredValueDecoder {
        decoder.inside(fields[key.stringValue] ?? .null, at: key)
    }
}

private struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let decoder: StoredValueDecoder
    let values: [StoredValue]
    var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    mutating func decodeNil() throws -> Bool {
        guard try element(Never.self).decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable & StoredAsSelf>(_ type: Value.Type) throws -> Value {
        try taking { try $0.decode(type) }
    }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try taking { try $0.decode(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try taking { try $0.decode(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try taking { try $0.decode(type) } }
    mutating func nestedContainer<Inner>(keyedBy type: Inner.Type) throws -> KeyedDecodingContainer<Inner> {
        try taking { try $0.container(keyedBy: type) }
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try taking { try $0.unkeyedContainer() }
    }
    mutating func superDecoder() throws -> any Decoder { try taking { $0 } }

    /// Reads the next element, and advances the index only if that succeeds.
    private mutating func taking<Result>(_ read: (StoredValueDecoder) throws -> Result) throws -> Result {
        let result = try read(element(Result.self))
        currentIndex += 1
        return result
    }

    private func element(_ type: Any.Type) throws -> StoredValueDecoder {
        let key = UndeclaredKey(intValue: currentIndex)
        guard !isAtEnd else {
            let problem = ConversionProblem.mismatch(expected: "an element", found: "the end of the array")
            throw DecodingError.valueNotFound(type, decoder.inside(.null, at: key).context(problem))
        }
        return decoder.inside(values[currentIndex], at: key)
    }
}
