extension StoredValue {
    /// Encodes a value as its type's own code does. Throws `EncodingError`, and whatever that code throws.
    init(encoding value: some Encodable) throws { self = try StoredValueEncoder().encoded(value) }
}

/// Builds a ``StoredValue`` of what encodes itself. Types that stores keep, such as Data and Date, stay what they are.
private struct StoredValueEncoder: Encoder, SingleValueEncodingContainer {
    /// The first error that could not be thrown where it happened, since asking for a container cannot throw.
    final class Mishap {
        var error: EncodingError?
    }

    var node = EncodedNode()
    var codingPath: [any CodingKey] = []
    /// How many values are around this one, also those that leave no trace in what is stored: each takes stack.
    var depth = 0
    var mishap = Mishap()
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedEncoding(encoder: becoming(.dictionary)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedEncoding(encoder: becoming(.array)) }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() throws { try put(.null) }
    func encode(_ value: some Encodable & StoredAsSelf) throws { try put(value.stored) }
    func encode(_ value: Int128) throws { try put(wideInteger(value)) }
    func encode(_ value: UInt128) throws { try put(wideInteger(value)) }
    func encode(_ value: some Encodable) throws { try put(encoded(value)) }

    private func put(_ value: StoredValue) throws {
        guard node.form == .undecided, node.become(.single) else { throw error(.twoForms, ()) }
        node.single = value
    }

    /// Returns the stored form of a value inside this one.
    func encoded<Value: Encodable>(_ value: Value, at key: (any CodingKey)? = nil) throws -> StoredValue {
        if let whole = value as? any StoredAsSelf { return whole.stored }
        let inner = inside(EncodedNode(), at: key)
        guard inner.isWithinBounds else { throw inner.error(.tooDeep, value) }
        try value.encode(to: inner)
        if let error = mishap.error { throw error }
        return inner.node.finished
    }

    /// Returns the stored form of an integer of a wider type than stores know. Throws if no store keeps it.
    func wideInteger(_ value: some BinaryInteger, at key: (any CodingKey)? = nil) throws -> StoredValue {
        guard let integer = Int128(exactly: value), StoredValue.integers.contains(integer) else {
            throw inside(node, at: key).error(.outOfBounds("an integer"), value)
        }
        return .integer(integer)
    }

    /// Returns an encoder for a value inside this one, which is filled after `put` has added it to this one.
    func nested(_ present: EncodedNode?, at key: any CodingKey, put: (EncodedNode) -> Void) -> StoredValueEncoder {
        let inner = inside(present ?? EncodedNode(), at: key)
        guard inner.isWithinBounds else {
            inner.note(.tooDeep)
            // Not added, and no deeper however often it is asked for another.
            return with(EncodedNode())
        }
        put(inner.node)
        return inner
    }

    /// Returns this encoder with its value's form decided.
    private func becoming(_ form: EncodedNode.Form) -> StoredValueEncoder {
        guard !node.become(form) else { return self }
        note(.twoForms)
        return with(EncodedNode(form))
    }

    private func with(_ node: EncodedNode) -> StoredValueEncoder {
        StoredValueEncoder(node: node, codingPath: codingPath, depth: depth, mishap: mishap)
    }

    private func inside(_ node: EncodedNode, at key: (any CodingKey)?) -> StoredValueEncoder {
        var inner = with(node)
        if let key { inner.codingPath.append(key) }
        inner.depth += 1
        return inner
    }

    private var isWithinBounds: Bool { depth < StoredValue.maximumDepth }

    private func note(_ problem: ConversionProblem) { mishap.error = mishap.error ?? error(problem, ()) }

    /// Returns the error that says what is wrong here. The value in it is never shown.
    private func error(_ problem: ConversionProblem, _ value: Any) -> EncodingError {
        let context = EncodingError.Context(
            codingPath: codingPath, debugDescription: problem.text, underlyingError: problem)
        return .invalidValue(value, context)
    }
}

/// A value that is being encoded: Codable adds a container first, and fills it afterwards.
private final class EncodedNode {
    enum Form {
        case undecided, single, array, dictionary
    }

    enum Content {
        case value(StoredValue)
        case node(EncodedNode)

        var finished: StoredValue {
            switch self {
            case .value(let value): value
            case .node(let node): node.finished
            }
        }
    }

    private(set) var form: Form
    var single = StoredValue.null
    var elements: [Content] = []
    var fields: [String: Content] = [:]

    init(_ form: Form = .undecided) { self.form = form }

    /// Decides on a form; false if the node has another one already.
    func become(_ form: Form) -> Bool {
        if self.form == .undecided { self.form = form }
        return self.form == form
    }

    /// The value as it is now. A type that encodes nothing has no fields yet, and may gain some: an empty dictionary.
    var finished: StoredValue {
        switch form {
        case .single: single
        case .array: .array(elements.map(\.finished))
        case .dictionary, .undecided: .dictionary(fields.mapValues(\.finished))
        }
    }
}

// The protocols require a method for each primitive type. The generic ones stand for all but the two widest, which have
// default implementations that throw.

private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: StoredValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    func encodeNil(forKey key: Key) { put(.null, key) }
    func encode(_ value: some Encodable & StoredAsSelf, forKey key: Key) { put(value.stored, key) }
    func encode(_ value: Int128, forKey key: Key) throws { put(try encoder.wideInteger(value, at: key), key) }
    func encode(_ value: UInt128, forKey key: Key) throws { put(try encoder.wideInteger(value, at: key), key) }
    func encode(_ value: some Encodable, forKey key: Key) throws { put(try encoder.encoded(value, at: key), key) }
    func nestedContainer<Inner>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
        nested(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { nested(UndeclaredKey.superclass) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func put(_ value: StoredValue, _ key: Key) { encoder.node.fields[key.stringValue] = .value(value) }

    private func nested(_ key: any CodingKey) -> StoredValueEncoder {
        // A container that is asked for once more is filled further.
        var present: EncodedNode?
        if case .node(let node) = encoder.node.fields[key.stringValue] { present = node }
        return encoder.nested(present, at: key) { encoder.node.fields[key.stringValue] = .node($0) }
    }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: StoredValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.elements.count }
    private var index: UndeclaredKey { UndeclaredKey(intValue: count) }
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

    private func put(_ value: StoredValue) { encoder.node.elements.append(.value(value)) }

    private func nested() -> StoredValueEncoder {
        encoder.nested(nil, at: index) { encoder.node.elements.append(.node($0)) }
    }
}
