// Between the types of a program and what stores keep; what goes wrong on the way is told here.

extension StoredObject {
    /// - Throws: ``VaultError/Code/invalid`` if the value refuses to be stored.
    func storedValue(for key: String) throws(VaultError) -> StoredValue {
        guard let primitive = toPrimitive() else {
            throw VaultError(unstorable: failureStoring() ?? ConversionFailure(.refused), for: key, Self.self)
        }
        return primitive.stored
    }

    /// - Throws: ``VaultError/Code/wrongType`` if the stored value is of another type; ``VaultError/Code/unreadable`` if
    ///   it is of the right one, but out of its bounds or refused, or if this goes for something in it.
    init(stored: StoredValue, of key: String) throws(VaultError) {
        guard let primitive = Primitive(stored: stored), let value = Self.from(primitive: primitive) else {
            let failure = Self.failure(reading: stored) ?? ConversionFailure(.refused)
            throw VaultError(unreadable: failure, of: key, as: Self.self, stored)
        }
        self = value
    }
}

extension VaultError {
    init(unstorable failure: ConversionFailure, for key: String, _ type: Any.Type) {
        self.init(.invalid, "This \(type) for \"\(key)\" cannot be stored: \(failure.text).")
    }

    init(unreadable failure: ConversionFailure, of key: String, as type: Any.Type, _ stored: StoredValue) {
        switch failure.problem {
        case .mismatch(let expected, let found) where failure.path.isEmpty:
            self.init(
                .wrongType, "The value of \"\(key)\" is \(found), but was asked for as \(expected) (\(type)).")
        case .refused where failure.path.isEmpty, .outOfBounds where failure.path.isEmpty:
            self.init(
                .unreadable,
                "The value of \"\(key)\" is \(stored.typeName), but not one that \(type) can be read from; it stays stored."
            )
        default:
            self.init(
                .unreadable,
                "The value of \"\(key)\" cannot be read as \(type) (\(failure.text)); it stays stored.")
        }
    }
}
