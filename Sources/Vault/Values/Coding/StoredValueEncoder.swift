extension StoredValue {
    /// What a value becomes by its type's own encoding.
    ///
    /// - Throws: `EncodingError`, and whatever the type's own code throws.
    init(encoding value: some Encodable) throws {
        self = try StoredValueEncoder().encoded(value)
    }
}

/// Makes a ``StoredValue`` of what encodes itself. Types that stores keep as they are, such as Data and Date, stay what they are.
struct StoredValueEncoder: Encoder {
    /// What cannot be thrown where it happens, since asking for a container cannot throw.
    private final class Mishap {
        var error: EncodingError?
    }

    let node: EncodedNode
    private let path: CodingPath
    /// How many values lie around this one; also those that leave no trace in what is stored, since each takes its piece of the stack.
    private let depth: Int
    private let mishap: Mishap

    init() {
        self.init(EncodedNode(), .root, 0, Mishap())
    }

    private init(_ node: EncodedNode, _ path: CodingPath, _ depth: Int, _ mishap: Mishap) {
        self.node = node
        self.path = path
        self.depth = depth
        self.mishap = mishap
    }

    var codingPath: [any CodingKey] { path.keys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedEncoding(encoder: becoming(.dictionary)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedEncoding(encoder: becoming(.array))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleEncoding(encoder: self)
    }

    /// The stored form of a value inside this one.
    func encoded<Value: Encodable>(_ value: Value, at key: (any CodingKey)? = nil) throws -> StoredValue {
        if let whole = value as? any StoredAsSelf { return whole.stored }
        let inner = inside(EncodedNode(), at: key)
        guard inner.isWithinBounds else { throw inner.error(.tooDeep, value) }
        try value.encode(to: inner)
        if let error = mishap.error { throw error }
        return inner.node.finished
    }

    /// An integer that is wider than those that stores know.
    ///
    /// - Throws: `EncodingError` if no store keeps it.
    func wideInteger(_ value: some BinaryInteger, at key: (any CodingKey)? = nil) throws -> StoredValue {
        guard let integer = Int128(exactly: value), StoredValue.integers.contains(integer) else {
            throw inside(node, at: key).error(.outOfBounds("an integer"), value)
        }
        return .integer(integer)
    }

    /// An encoder for a value inside this one that is filled after `put` has given it its place.
    func nested(_ present: EncodedNode? = nil, at key: any CodingKey, put: (EncodedNode) -> Void) -> StoredValueEncoder
    {
        let inner = inside(present ?? EncodedNode(), at: key)
        guard inner.isWithinBounds else {
            note(inner, .tooDeep)
            // Without a place, and no deeper however often it is asked.
            return StoredValueEncoder(EncodedNode(), path, depth, mishap)
        }
        put(inner.node)
        return inner
    }

    /// The error that says what is wrong here. No one shows the value.
    func error(_ problem: ConversionProblem, _ value: Any) -> EncodingError {
        .invalidValue(
            value,
            EncodingError.Context(codingPath: codingPath, debugDescription: problem.text, underlyingError: problem))
    }

    /// This encoder with its value's form decided.
    private func becoming(_ form: EncodedNode.Form) -> StoredValueEncoder {
        guard !node.become(form) else { return self }
        note(self, .twoForms)
        return StoredValueEncoder(EncodedNode(form), path, depth, mishap)
    }

    private func inside(_ node: EncodedNode, at key: (any CodingKey)?) -> StoredValueEncoder {
        StoredValueEncoder(node, path.appending(key), depth + 1, mishap)
    }

    private var isWithinBounds: Bool { depth < StoredValue.maximumDepth }

    private func note(_ place: StoredValueEncoder, _ problem: ConversionProblem) {
        if mishap.error == nil { mishap.error = place.error(problem, ()) }
    }
}
