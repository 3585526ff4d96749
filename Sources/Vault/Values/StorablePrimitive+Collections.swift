// Collections of primitives are primitives. Collections of objects are objects, stored as collections of their
// primitives.

extension Array: StorablePrimitive where Element: StorablePrimitive {
    public static var typeName: String { "an array" }
    public var stored: StoredValue { .array(map(\.stored)) }
    public init?(stored: StoredValue) {
        guard case .array(let values) = stored, let elements = values.mapAll(Element.init(stored:)) else { return nil }
        self = elements
    }
}

extension Dictionary: StorablePrimitive where Key == String, Value: StorablePrimitive {
    public static var typeName: String { "a dictionary" }
    public var stored: StoredValue { .dictionary(mapValues(\.stored)) }
    public init?(stored: StoredValue) {
        guard case .dictionary(let fields) = stored, let values = fields.mapAll(Value.init(stored:)) else { return nil }
        self = values
    }
}

extension Optional: StorablePrimitive where Wrapped: StorablePrimitive {
    public static var typeName: String { Wrapped.typeName }
    public var stored: StoredValue { self?.stored ?? .null }
    public init?(stored: StoredValue) {
        if case .null = stored {
            self = .none
        } else {
            guard let value = Wrapped(stored: stored) else { return nil }
            self = .some(value)
        }
    }
}

extension Array: StoredObject where Element: StoredObject {
    public func toPrimitive() -> [Element.Primitive]? {
        mapAll { $0.toPrimitive() }
    }

    public static func from(primitive: [Element.Primitive]) -> [Element]? {
        primitive.mapAll(Element.from(primitive:))
    }
}

extension Dictionary: StoredObject where Key == String, Value: StoredObject {
    public func toPrimitive() -> [String: Value.Primitive]? {
        mapAll { $0.toPrimitive() }
    }

    public static func from(primitive: [String: Value.Primitive]) -> [String: Value]? {
        primitive.mapAll(Value.from(primitive:))
    }
}

extension Optional: StoredObject where Wrapped: StoredObject {
    public func toPrimitive() -> Wrapped.Primitive?? {
        guard let value = self else { return .some(.none) }
        guard let primitive = value.toPrimitive() else { return nil }
        return .some(primitive)
    }

    public static func from(primitive: Wrapped.Primitive?) -> Wrapped?? {
        guard let primitive else { return .some(.none) }
        guard let value = Wrapped.from(primitive: primitive) else { return nil }
        return .some(value)
    }
}

extension Array {
    /// Returns the results of all elements; nil if one has none.
    fileprivate func mapAll<Result>(_ transform: (Element) -> Result?) -> [Result]? {
        var results: [Result] = []
        results.reserveCapacity(count)
        for element in self {
            guard let result = transform(element) else { return nil }
            results.append(result)
        }
        return results
    }
}

extension Dictionary {
    /// Returns the results of all values; nil if one has none.
    fileprivate func mapAll<Result>(_ transform: (Value) -> Result?) -> [Key: Result]? {
        var results = [Key: Result](minimumCapacity: count)
        for (key, value) in self {
            guard let result = transform(value) else { return nil }
            results[key] = result
        }
        return results
    }
}
