extension StoredValue {
    /// The value as a type's own decoding reads it.
    ///
    /// - Throws: `DecodingError`, and whatever the type's own code throws.
    func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        try StoredValueDecoder(self).decoded(as: type)
    }
}

/// Gives a ``StoredValue`` to what decodes itself, as strict about types as the primitives are.
struct StoredValueDecoder: Decoder {
    let value: StoredValue
    private let path: CodingPath
    /// How many values lie around this one, as the type decodes it.
    private let depth: Int

    init(_ value: StoredValue) {
        self.init(value, .root, 0)
    }

    private init(_ value: StoredValue, _ path: CodingPath, _ depth: Int) {
        self.value = value
        self.path = path
        self.depth = depth
    }

    var codingPath: [any CodingKey] { path.keys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .dictionary(let fields) = value else { throw mismatch([String: StoredValue].self) }
        return KeyedDecodingContainer(KeyedDecoding(decoder: self, fields: fields))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let values) = value else { throw mismatch([StoredValue].self) }
        return UnkeyedDecoding(decoder: self, values: values)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleDecoding(decoder: self)
    }

    func inside(_ value: StoredValue, at key: any CodingKey) -> StoredValueDecoder {
        StoredValueDecoder(value, path.appending(key), depth)
    }

    /// The value as a type that decodes itself, or one that stores keep as it is.
    func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        if let whole = type as? any StoredAsSelf.Type, let value = try primitive(whole) as? Value { return value }
        guard depth + 1 < StoredValue.maximumDepth else { throw corrupted(.tooDeep) }
        return try Value(from: StoredValueDecoder(value, path, depth + 1))
    }

    func primitive<Primitive: StorablePrimitive>(_ type: Primitive.Type) throws -> Primitive {
        if let primitive = Primitive(stored: value) { return primitive }
        guard value.typeName != Primitive.typeName else { throw corrupted(.outOfBounds(value.typeName)) }
        throw mismatch(type)
    }

    /// An integer that is wider than those that stores know.
    func wideInteger<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
        guard case .integer(let integer) = value else { throw mismatch(Int64.self) }
        guard let exact = Integer(exactly: integer) else { throw corrupted(.outOfBounds(value.typeName)) }
        return exact
    }

    func mismatch<Primitive: StorablePrimitive>(_ type: Primitive.Type) -> DecodingError {
        let context = context(.mismatch(expected: Primitive.typeName, found: value.typeName))
        if case .null = value { return .valueNotFound(type, context) }
        return .typeMismatch(type, context)
    }

    private func corrupted(_ problem: ConversionProblem) -> DecodingError {
        .dataCorrupted(context(problem))
    }

    func context(_ problem: ConversionProblem, at key: (any CodingKey)? = nil) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: path.appending(key).keys, debugDescription: problem.text, underlyingError: problem)
    }
}
