// A protocol of the standard library asks for a method per primitive type: the generic ones stand for all of them.

struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: StoredValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { put(.null, key) }
    func encode(_ value: some Encodable & StoredAsSelf, forKey key: Key) { put(value.stored, key) }
    func encode(_ value: Int128, forKey key: Key) throws { put(try encoder.wideInteger(value, at: key), key) }
    func encode(_ value: UInt128, forKey key: Key) throws { put(try encoder.wideInteger(value, at: key), key) }
    func encode(_ value: some Encodable, forKey key: Key) throws { put(try encoder.encoded(value, at: key), key) }

    func nestedContainer<Inner>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
        nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { nested(PlaceKey.superclass) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func put(_ value: StoredValue, _ key: Key) {
        encoder.node.fields[key.stringValue] = .value(value)
    }

    private func nested(_ key: any CodingKey) -> StoredValueEncoder {
        // A container that is asked for once more is filled further.
        var present: EncodedNode?
        if case .node(let node) = encoder.node.fields[key.stringValue] { present = node }
        return encoder.nested(present, at: key) { encoder.node.fields[key.stringValue] = .node($0) }
    }
}

struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: StoredValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.elements.count }

    func encodeNil() { put(.null) }
    func encode(_ value: some Encodable & StoredAsSelf) { put(value.stored) }
    func encode(_ value: Int128) throws { put(try encoder.wideInteger(value, at: index)) }
    func encode(_ value: UInt128) throws { put(try encoder.wideInteger(value, at: index)) }
    func encode(_ value: some Encodable) throws { put(try encoder.encoded(value, at: index)) }

    func nestedContainer<Inner>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private var index: PlaceKey { PlaceKey(intValue: count) }

    private func put(_ value: StoredValue) {
        encoder.node.elements.append(.value(value))
    }

    private func nested() -> StoredValueEncoder {
        encoder.nested(at: index) { encoder.node.elements.append(.node($0)) }
    }
}

struct SingleEncoding: SingleValueEncodingContainer {
    let encoder: StoredValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { try put(.null) }
    func encode(_ value: some Encodable & StoredAsSelf) throws { try put(value.stored) }
    func encode(_ value: Int128) throws { try put(encoder.wideInteger(value)) }
    func encode(_ value: UInt128) throws { try put(encoder.wideInteger(value)) }
    func encode(_ value: some Encodable) throws { try put(encoder.encoded(value)) }

    private func put(_ value: StoredValue) throws {
        guard encoder.node.form == .undecided, encoder.node.become(.single) else {
            throw encoder.error(.twoForms, ())
        }
        encoder.node.single = value
    }
}
