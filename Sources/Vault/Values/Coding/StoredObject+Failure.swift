// Conversions give nil when they fail. These go through a failed one again, to find out where: a path is not worth carrying along
// through those that succeed.

extension StoredObject {
    /// Why `stored` cannot be read as this type; nil if it can.
    static func failure(reading stored: StoredValue) -> ConversionFailure? {
        if let type = Self.self as? any StoredAsCodable.Type {
            return decodingFailure(of: type, stored)
        }
        if let type = Self.self as? any StoredContainer.Type, let failure = type.contentFailure(reading: stored) {
            return failure
        }
        guard let primitive = Primitive(stored: stored) else {
            return ConversionFailure(
                stored.typeName == Primitive.typeName
                    ? .outOfBounds(stored.typeName)
                    : .mismatch(expected: Primitive.typeName, found: stored.typeName))
        }
        return from(primitive: primitive) == nil ? ConversionFailure(.refused) : nil
    }

    /// Why the value cannot be stored; nil if it can.
    func failureStoring() -> ConversionFailure? {
        if let value = self as? any StoredAsCodable {
            do { _ = try StoredValue(encoding: value) } catch { return ConversionFailure(error) }
            return nil
        }
        if let container = self as? any StoredContainer, let failure = container.contentFailureStoring() {
            return failure
        }
        return toPrimitive() == nil ? ConversionFailure(.refused) : nil
    }

    private static func decodingFailure(
        of type: (some Decodable).Type, _ stored: StoredValue
    ) -> ConversionFailure? {
        do { _ = try stored.decoded(as: type) } catch { return ConversionFailure(error) }
        return nil
    }
}

/// A type whose values hold others, each of which can be what fails.
private protocol StoredContainer {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure?
    func contentFailureStoring() -> ConversionFailure?
}

extension Array: StoredContainer where Element: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        guard case .array(let values) = stored else { return nil }
        for (index, value) in values.enumerated() {
            if let failure = Element.failure(reading: value) { return failure.inside(String(index)) }
        }
        return nil
    }

    func contentFailureStoring() -> ConversionFailure? {
        for (index, element) in enumerated() {
            if let failure = element.failureStoring() { return failure.inside(String(index)) }
        }
        return nil
    }
}

extension Dictionary: StoredContainer where Key == String, Value: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        guard case .dictionary(let values) = stored else { return nil }
        return values.values.lazy.compactMap(Value.failure(reading:)).first?.inside(ConversionFailure.hiddenKey)
    }

    func contentFailureStoring() -> ConversionFailure? {
        values.lazy.compactMap { $0.failureStoring() }.first?.inside(ConversionFailure.hiddenKey)
    }
}

extension Optional: StoredContainer where Wrapped: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        if case .null = stored { nil } else { Wrapped.failure(reading: stored) }
    }

    func contentFailureStoring() -> ConversionFailure? {
        self?.failureStoring()
    }
}
