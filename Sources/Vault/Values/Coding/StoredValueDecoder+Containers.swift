struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: StoredValueDecoder
    let fields: [String: StoredValue]

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { fields.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        if case .null = try field(key).value { true } else { false }
    }

    func decode<Value: Decodable & StoredAsSelf>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).primitive(type)
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try field(key).wideInteger(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try field(key).wideInteger(type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).decoded(as: type)
    }

    func nestedContainer<Inner>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        try field(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try field(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { fieldOrNull(PlaceKey.superclass) }
    func superDecoder(forKey key: Key) -> any Decoder { fieldOrNull(key) }

    private func field(_ key: Key) throws -> StoredValueDecoder {
        guard let value = fields[key.stringValue] else {
            throw DecodingError.keyNotFound(key, decoder.context(.missing(key.shown)))
        }
        return decoder.inside(value, at: key)
    }

    /// A superclass may have had nothing to store.
    private func fieldOrNull(_ key: any CodingKey) -> StoredValueDecoder {
        decoder.inside(fields[key.stringValue] ?? .null, at: key)
    }
}

struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let decoder: StoredValueDecoder
    let values: [StoredValue]
    private(set) var currentIndex = 0

    init(decoder: StoredValueDecoder, values: [StoredValue]) {
        self.decoder = decoder
        self.values = values
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    mutating func decodeNil() throws -> Bool {
        guard case .null = try element(Never.self).value else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable & StoredAsSelf>(_ type: Value.Type) throws -> Value {
        try taking(type) { try $0.primitive(type) }
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try taking(type) { try $0.wideInteger(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try taking(type) { try $0.wideInteger(type) } }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try taking(type) { try $0.decoded(as: type) }
    }

    mutating func nestedContainer<Inner>(keyedBy type: Inner.Type) throws -> KeyedDecodingContainer<Inner> {
        try taking(KeyedDecodingContainer<Inner>.self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try taking((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try taking((any Decoder).self) { $0 }
    }

    /// What is read from the next element, which counts as taken only if reading it succeeds.
    private mutating func taking<Result>(
        _ type: Any.Type, _ read: (StoredValueDecoder) throws -> Result
    ) throws -> Result {
        let result = try read(element(type))
        currentIndex += 1
        return result
    }

    private func element(_ type: Any.Type) throws -> StoredValueDecoder {
        let key = PlaceKey(intValue: currentIndex)
        guard !isAtEnd else {
            let problem = ConversionProblem.mismatch(expected: "an element", found: "the end of the array")
            throw DecodingError.valueNotFound(type, decoder.context(problem, at: key))
        }
        return decoder.inside(values[currentIndex], at: key)
    }
}

struct SingleDecoding: SingleValueDecodingContainer {
    let decoder: StoredValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool {
        if case .null = decoder.value { true } else { false }
    }

    func decode<Value: Decodable & StoredAsSelf>(_ type: Value.Type) throws -> Value { try decoder.primitive(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try decoder.wideInteger(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.wideInteger(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decoded(as: type) }
}
