// Collections of primitives are primitives; collections of objects are objects, stored as collections of their primitives.

extension Array: StorablePrimitive where Element: StorablePrimitive {
    public static var typeName: String { "an array" }
    public var stored: StoredValue { .array(map(\.stored)) }
    public init?(stored: StoredValue) {
        guard case .array(let values) = stored else { return nil }
        self.init()
        reserveCapacity(values.count)
        for value in values {
            guard let element = Element(stored: value) else { return nil }
            append(element)
        }
    }
}

extension Dictionary: StorablePrimitive where Key == String, Value: StorablePrimitive {
    public static var typeName: String { "a dictionary" }
    public var stored: StoredValue { .dictionary(mapValues(\.stored)) }
    public init?(stored: StoredValue) {
        guard case .dictionary(let values) = stored else { return nil }
        self.init(minimumCapacity: values.count)
        for (key, value) in values {
            guard let value = Value(stored: value) else { return nil }
            self[key] = value
        }
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
        var primitives: [Element.Primitive] = []
        primitives.reserveCapacity(count)
        for element in self {
            guard let primitive = element.toPrimitive() else { return nil }
            primitives.append(primitive)
        }
        return primitives
    }

    public static func from(primitive: [Element.Primitive]) -> [Element]? {
        var elements: [Element] = []
        elements.reserveCapacity(primitive.count)
        for primitive in primitive {
            guard let element = Element.from(primitive: primitive) else { return nil }
            elements.append(element)
        }
        return elements
    }
}

extension Dictionary: StoredObject where Key == String, Value: StoredObject {
    public func toPrimitive() -> [String: Value.Primitive]? {
        var primitives = [String: Value.Primitive](minimumCapacity: count)
        for (key, value) in self {
            guard let primitive = value.toPrimitive() else { return nil }
            primitives[key] = primitive
        }
        return primitives
    }

    public static func from(primitive: [String: Value.Primitive]) -> [String: Value]? {
        var values = [String: Value](minimumCapacity: primitive.count)
        for (key, primitive) in primitive {
            guard let value = Value.from(primitive: primitive) else { return nil }
            values[key] = value
        }
        return values
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
