extension ValueStore {
    /// ``DataStore/read(_:as:)``
    @concurrent
    public func read<Value: Decodable & Sendable>(
        _ key: String, as type: Value.Type
    ) async throws(VaultError) -> Value? {
        try Keychain.checkName(key)
        return try value(of: key)?.read(as: type, of: key)
    }

    /// ``DataStore/write(_:for:)``
    @concurrent
    public func write<Value: Encodable & Sendable>(_ value: Value, for key: String) async throws(VaultError) {
        try Keychain.checkName(key)
        _ = try commit(StoreBatch([key: StoredValue(value, for: key)]))
    }

    /// ``DataStore/delete(_:)``
    @concurrent
    public func delete(_ key: String) async throws(VaultError) {
        try Keychain.checkName(key)
        _ = try commit(StoreBatch([key: nil]))
    }
}

// A type that is a StoredObject has one stored form, also where it is Codable.

extension StoredValue {
    fileprivate init<Value: Encodable>(_ value: Value, for key: String) throws(VaultError) {
        if let object = value as? any StoredObject {
            self = try object.storedValue(for: key)
        } else {
            do { try self.init(encoding: value) } catch {
                throw VaultError(unstorable: ConversionFailure(error), for: key, Value.self)
            }
        }
    }

    fileprivate func read<Value: Decodable>(as type: Value.Type, of key: String) throws(VaultError) -> Value {
        if let object = type as? any StoredObject.Type, let value = try object.init(stored: self, of: key) as? Value {
            return value
        }
        do { return try decoded(as: type) } catch {
            throw VaultError(unreadable: ConversionFailure(error), of: key, as: type, self)
        }
    }
}
