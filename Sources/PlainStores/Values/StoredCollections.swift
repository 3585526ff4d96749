import PropertyList

// Arrays, dictionaries and optionals of primitives are primitives themselves. If their elements conform to
// `StoredObject`, so do they: each element is converted to its primitive, and the collection of primitives is stored.

extension Array: StorablePrimitive where Element: StorablePrimitive {
    public static var primitiveName: String { "an array" }
    public static func stored(_ value: [Element]) -> StoredValue { .array(value.map(\.stored)) }
    public static func primitive(of stored: StoredValue) -> [Element]? {
        guard case .array(let values) = stored else { return nil }
        return try? values.map { try Element(stored: $0).present() }
    }
}

extension Dictionary: StorablePrimitive where Key == String, Value: StorablePrimitive {
    public static var primitiveName: String { "a dictionary" }
    public static func stored(_ value: [String: Value]) -> StoredValue { .dictionary(value.mapValues(\.stored)) }
    public static func primitive(of stored: StoredValue) -> [String: Value]? {
        guard case .dictionary(let fields) = stored else { return nil }
        return try? fields.mapValues { try Value(stored: $0).present() }
    }
}

extension Optional: StorablePrimitive where Wrapped: StorablePrimitive {
    public static var primitiveName: String { Wrapped.primitiveName }
    public static func stored(_ value: Wrapped?) -> StoredValue { value?.stored ?? .null }
    public static func primitive(of stored: StoredValue) -> Wrapped?? {
        if case .null = stored { return .some(.none) }
        return Wrapped(stored: stored).map(Optional.some)
    }
}

extension Array: StoredObject where Element: StoredObject {
    public func toPrimitive() -> [Element.Primitive]? { try? map { try $0.toPrimitive().present() } }
    public static func from(primitive: [Element.Primitive]) -> [Element]? {
        try? primitive.map { try Element.from(primitive: $0).present() }
    }
}

extension Dictionary: StoredObject where Key: DictionaryKey, Value: StoredObject {
    public func toPrimitive() -> [String: Value.Primitive]? {
        var fields: [String: Value.Primitive] = [:]
        fields.reserveCapacity(count)
        for (key, value) in self {
            guard let primitive = value.toPrimitive() else { return nil }
            guard fields.updateValue(primitive, forKey: Key.text(of: key)) == nil else { return nil }
        }
        return fields
    }
    public static func from(primitive: [String: Value.Primitive]) -> [Key: Value]? {
        var values: [Key: Value] = [:]
        values.reserveCapacity(primitive.count)
        for (text, field) in primitive {
            guard let key = Key.key(of: text), let value = Value.from(primitive: field) else { return nil }
            guard values.updateValue(value, forKey: key) == nil else { return nil }
        }
        return values
    }
}

extension Optional: StoredObject where Wrapped: StoredObject {
    public func toPrimitive() -> Wrapped.Primitive?? {
        guard let value = self else { return .some(.none) }
        return value.toPrimitive().map(Optional<Wrapped.Primitive>.some)
    }
    public static func from(primitive: Wrapped.Primitive?) -> Wrapped?? {
        guard let primitive else { return .some(.none) }
        return Wrapped.from(primitive: primitive).map(Optional<Wrapped>.some)
    }
}

extension Set: StoredObject where Element: StoredObject {
    /// Returns the elements in bytewise order, so that equal sets have equal stored forms in every process.
    public func toPrimitive() -> [Element.Primitive]? {
        var elements: [[UInt8]: Element.Primitive] = [:]
        for element in self {
            guard let primitive = element.toPrimitive(), let bytes = try? primitive.stored.bytes else { return nil }
            // Two elements with the same stored form would be read back as duplicates, so such a set is refused.
            guard elements.updateValue(primitive, forKey: bytes) == nil else { return nil }
        }
        return elements.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }
    /// Returns the set of the elements; nil if an element occurs twice.
    public static func from(primitive: [Element.Primitive]) -> Set? {
        guard let elements = [Element].from(primitive: primitive) else { return nil }
        let set = Set(elements)
        return set.count == elements.count ? set : nil
    }
}

extension Range: StoredObject where Bound: StoredObject {
    public func toPrimitive() -> [Bound.Primitive]? { [lowerBound, upperBound].toPrimitive() }
    /// Returns the range; nil unless `primitive` consists of two bounds, the lower one first.
    public static func from(primitive: [Bound.Primitive]) -> Range? {
        [Bound].bounds(from: primitive).map { Range(uncheckedBounds: $0) }
    }
}

extension ClosedRange: StoredObject where Bound: StoredObject {
    public func toPrimitive() -> [Bound.Primitive]? { [lowerBound, upperBound].toPrimitive() }
    /// Returns the range; nil unless `primitive` consists of two bounds, the lower one first.
    public static func from(primitive: [Bound.Primitive]) -> ClosedRange? {
        [Bound].bounds(from: primitive).map { ClosedRange(uncheckedBounds: $0) }
    }
}

extension Array where Element: StoredObject & Comparable {
    fileprivate static func bounds(from primitive: [Element.Primitive]) -> (lower: Element, upper: Element)? {
        guard let bounds = from(primitive: primitive), bounds.count == 2, bounds[0] <= bounds[1] else { return nil }
        return (bounds[0], bounds[1])
    }
}

extension Optional {
    /// Returns the wrapped value. If it is nil, throws an error, which ends the conversion of the collection.
    fileprivate func present() throws(ConversionProblem) -> Wrapped {
        guard let value = self else { throw .refused }
        return value
    }
}
