// Converts between the types of a program and what stores keep, and explains failures.

extension StoredObject {
    /// - Throws: ``VaultError/Code/invalid`` if the value refuses to be stored.
    func storedValue(for key: String) throws(VaultError) -> StoredValue {
        guard let primitive = toPrimitive() else {
            throw VaultError(unstorable: failureStoring() ?? ConversionFailure(.refused), for: key, Self.self)
        }
        return primitive.stored
    }

    /// - Throws: ``VaultError/Code/wrongType`` if the stored value is of another type; ``VaultError/Code/unreadable``
    ///   if it is of the right one, but out of its bounds or refused, or if that applies to something in it.
    init(stored: StoredValue, of key: String) throws(VaultError) {
        guard let primitive = Primitive(stored: stored), let value = Self.from(primitive: primitive) else {
            let failure = Self.failure(reading: stored) ?? ConversionFailure(.refused)
            throw VaultError(unreadable: failure, of: key, as: Self.self, stored)
        }
        self = value
    }
}

// Conversions return nil when they fail. To find the location of a failure, these repeat a failed conversion: those
// that succeed need not carry a path along.

extension StoredObject {
    /// Returns why `stored` cannot be read as this type; nil if it can.
    fileprivate static func failure(reading stored: StoredValue) -> ConversionFailure? {
        if let type = Self.self as? any StoredAsCodable.Type {
            do { _ = try stored.decoded(as: type) } catch { return ConversionFailure(error) }
            return nil
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

    /// Returns why the value cannot be stored; nil if it can.
    fileprivate func failureStoring() -> ConversionFailure? {
        if let value = self as? any StoredAsCodable {
            do { _ = try StoredValue(encoding: value) } catch { return ConversionFailure(error) }
            return nil
        }
        if let container = self as? any StoredContainer, let failure = container.contentFailureStoring() {
            return failure
        }
        return toPrimitive() == nil ? ConversionFailure(.refused) : nil
    }
}

/// A type whose values hold others, each of which can fail to convert.
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
