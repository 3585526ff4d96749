extension StoredValue {
    /// Encodes a value with its type's `encode(to:)`. Throws `EncodingError`, and the errors of that method.
    init(encoding value: some Encodable) throws { self = try StoredValueEncoder().encoded(value) }
}

/// An encoder for one value. Codable first requests a container from it, and then fills the container. Primitives, such
/// as Data and Date, are stored directly, without calling their `encode(to:)`.
private final class StoredValueEncoder: Encoder, SingleValueEncodingContainer {
    enum Form { case undecided, single, array, dictionary }

    enum Content {
        case finished(StoredValue)
        case pending(StoredValueEncoder)
    }

    /// Holds the first error that could not be thrown immediately. For example, a request for a container cannot throw.
    final class Mishap { var error: EncodingError? }

    let codingPath: [any CodingKey]
    /// The nesting depth of this value. Levels that are not in the stored form count too, because they use the stack.
    private let depth: Int
    private let mishap: Mishap
    private var form: Form
    private var single = StoredValue.null
    var elements: [Content] = []
    var fields: [String: Content] = [:]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ form: Form = .undecided, at codingPath: [any CodingKey] = [], depth: Int = 0, mishap: Mishap = Mishap()) {
        self.form = form
        self.codingPath = codingPath
        self.depth = depth
        self.mishap = mishap
    }

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
        guard form == .undecided else { throw error(.twoForms, ()) }
        form = .single
        single = value
    }

    func encoded<Value: Encodable>(_ value: Value, at key: (any CodingKey)? = nil) throws -> StoredValue {
        if let whole = value as? any StoredAsSelf { return whole.stored }
        let inner = inside(key)
        guard inner.isWithinBounds else { throw inner.error(.tooDeep, value) }
        try value.encode(to: inner)
        if let error = mishap.error { throw error }
        let stored = inner.finished
        guard case .array(let elements) = stored, let type = Value.self as? any Unordered.Type else { return stored }
        return .array(elements.sortedByBytes(inGroupsOf: type.groupSize))
    }

    /// Returns the stored form of an Int128 or UInt128. Throws if the integer is out of the range of stored integers.
    func wideInteger(_ value: some BinaryInteger, at key: (any CodingKey)? = nil) throws -> StoredValue {
        guard let integer = Int128(exactly: value), StoredValue.integers.contains(integer) else {
            throw inside(key).error(.outOfBounds("an integer"), value)
        }
        return .integer(integer)
    }

    /// Returns an encoder for a nested value. Unless the nesting is too deep, `put` adds it to this value, still empty.
    func nested(at key: any CodingKey, put: (Content) -> Void) -> StoredValueEncoder {
        let inner = inside(key)
        guard inner.isWithinBounds else {
            inner.note(.tooDeep)
            // The returned encoder's value is discarded. So are values nested in it, because it has the maximum depth.
            return StoredValueEncoder(at: codingPath, depth: depth, mishap: mishap)
        }
        put(.pending(inner))
        return inner
    }

    /// Sets the value's form and returns this encoder. If it has another, records an error and returns one to discard.
    private func becoming(_ form: Form) -> StoredValueEncoder {
        if self.form == .undecided { self.form = form }
        guard self.form != form else { return self }
        note(.twoForms)
        return StoredValueEncoder(form, at: codingPath, depth: depth, mishap: mishap)
    }

    private func inside(_ key: (any CodingKey)?) -> StoredValueEncoder {
        StoredValueEncoder(at: key.map { codingPath + [$0] } ?? codingPath, depth: depth + 1, mishap: mishap)
    }

    private var isWithinBounds: Bool { depth < StoredValue.maximumDepth }

    private func note(_ problem: ConversionProblem) { mishap.error = mishap.error ?? error(problem, ()) }

    /// Returns the error for a problem at this coding path. The error contains `value`, which is never shown.
    private func error(_ problem: ConversionProblem, _ value: Any) -> EncodingError {
        let context = EncodingError.Context(
            codingPath: codingPath, debugDescription: problem.text, underlyingError: problem)
        return .invalidValue(value, context)
    }

    /// The encoded value so far. A value without fields becomes an empty dictionary: a later version may have fields.
    private var finished: StoredValue {
        func finished(_ content: Content) -> StoredValue {
            switch content {
            case .finished(let value): value
            case .pending(let encoder): encoder.finished
            }
        }
        return switch form {
        case .single: single
        case .array: .array(elements.map(finished))
        case .dictionary, .undecided: .dictionary(fields.mapValues(finished))
        }
    }
}

// Codable's container protocols require a method for each primitive type. Generic methods implement all of them except
// the two for Int128 and UInt128, whose default implementations would throw.

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

    private func put(_ value: StoredValue, _ key: Key) { encoder.fields[key.stringValue] = .finished(value) }

    private func nested(_ key: any CodingKey) -> StoredValueEncoder {
        // A type may request the same nested container twice. The container then keeps its contents.
        if case .pending(let present) = encoder.fields[key.stringValue] { return present }
        return encoder.nested(at: key) { encoder.fields[key.stringValue] = $0 }
    }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: StoredValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.elements.count }
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

    private func put(_ value: StoredValue) { encoder.elements.append(.finished(value)) }

    private func nested() -> StoredValueEncoder { encoder.nested(at: index) { encoder.elements.append($0) } }
}

/// A collection whose element order differs between processes. The elements are stored sorted, so that equal
/// collections have equal stored forms, and no observer mistakes a different order for a change.
private protocol Unordered {
    /// The number of consecutive elements of the stored array that must stay together when it is sorted.
    static var groupSize: Int { get }
}

extension Set: Unordered { fileprivate static var groupSize: Int { 1 } }

/// Codable encodes a dictionary whose keys are neither strings nor integers as an array of alternating keys and values.
extension Dictionary: Unordered { fileprivate static var groupSize: Int { 2 } }

extension [StoredValue] {
    fileprivate func sortedByBytes(inGroupsOf size: Int) -> [StoredValue] {
        let groups = stride(from: 0, to: count, by: size).map { start in
            let group = self[start..<Swift.min(start + size, count)]
            // For sorting, an element that no store can hold counts as empty.
            return (bytes: group.flatMap { (try? $0.bytes) ?? [] }, group: group)
        }
        return groups.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.flatMap(\.group)
    }
}
