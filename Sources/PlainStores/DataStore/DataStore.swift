/// An asynchronous interface for code that works with any store. Values can be of any Codable type.
///
/// ```swift
/// let store: any DataStore = try Keychain.standard
/// try await store.write(profile, for: "u.profile")
/// let kept = try await store.read("u.profile", as: Profile.self)
/// ```
///
/// All stores of the library conform, and your own ``ValueStore`` conforms with an empty extension. Values are stored
/// in the form that typed keys use. For example, a ``KeychainStorable`` of String can read a String written here.
///
/// Calls run on the library's own threads and may block them for up to ten seconds (see <doc:Gotchas>). A running call
/// cannot be cancelled.
public protocol DataStore: Sendable {
    /// Returns the value of a key; nil if, and only if, the key has no value.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `busy` or `unavailable` if the store cannot be read; `wrongType`
    ///   or `unreadable` if the value is not of the given type; `invalid` for an invalid key.
    func read<Value: Decodable & Sendable>(_ key: String, as type: Value.Type) async throws(VaultError) -> Value?

    /// Sets the value of a key. The store contains the value when this method returns.
    ///
    /// - Throws: ``VaultError``, as ``read(_:as:)`` does; also `invalid` for a value that the store cannot hold. The
    ///   former value remains, unless the error is `outcomeUnknown`.
    func write<Value: Encodable & Sendable>(_ value: Value, for key: String) async throws(VaultError)

    /// Removes the value of a key, if it has one.
    ///
    /// - Throws: ``VaultError``, as ``write(_:for:)`` does.
    func remove(_ key: String) async throws(VaultError)
}

// Overloads for programs whose keys are the raw values of an enum.
extension DataStore {
    /// Returns the value whose key is the raw value of `key`, as ``read(_:as:)-(String,_)`` does.
    public func read<Value: Decodable & Sendable>(
        _ key: some RawRepresentable<String> & Sendable, as type: Value.Type
    ) async throws(VaultError) -> Value? {
        try await read(key.rawValue, as: type)
    }

    /// Sets the value whose key is the raw value of `key`, as ``write(_:for:)-(_,String)`` does.
    public func write<Value: Encodable & Sendable>(
        _ value: Value, for key: some RawRepresentable<String> & Sendable
    ) async throws(VaultError) {
        try await write(value, for: key.rawValue)
    }

    /// Removes the value whose key is the raw value of `key`, as ``remove(_:)-(String)`` does.
    public func remove(_ key: some RawRepresentable<String> & Sendable) async throws(VaultError) {
        try await remove(key.rawValue)
    }
}

extension Preferences: DataStore {}
extension MemoryStore: DataStore {}
extension ScopedStore: DataStore {}

extension ValueStore {
    /// Implements ``DataStore/read(_:as:)``.
    public func read<Value: Decodable & Sendable>(
        _ key: String, as type: Value.Type
    ) async throws(VaultError) -> Value? {
        try await asynchronously { (store) throws(VaultError) in
            try Naming.key.check(key)
            return try store.value(of: key).map { (stored) throws(VaultError) in
                try stored.converted(to: type, of: key)
            }
        }
    }

    /// Implements ``DataStore/write(_:for:)``.
    public func write<Value: Encodable & Sendable>(_ value: Value, for key: String) async throws(VaultError) {
        try await asynchronously { (store) throws(VaultError) in
            try Naming.key.check(key)
            _ = try store.commitChecked(StoreBatch([key: StoredValue(converting: value, for: key)]))
        }
    }

    /// Implements ``DataStore/remove(_:)``.
    public func remove(_ key: String) async throws(VaultError) {
        try await asynchronously { (store) throws(VaultError) in
            try Naming.key.check(key)
            _ = try store.commitChecked(StoreBatch([key: nil]))
        }
    }
}

// If a type is both a StoredObject and Codable, its StoredObject conformance determines the stored form.

extension StoredValue {
    fileprivate init<Value: Encodable>(converting value: Value, for key: String) throws(VaultError) {
        if let object = value as? any StoredObject {
            self = try object.storedValue(for: key)
            return
        }
        do { try self.init(encoding: value) } catch {
            throw VaultError(unstorable: ConversionFailure(error), for: key, Value.self)
        }
    }

    fileprivate func converted<Value: Decodable>(to type: Value.Type, of key: String) throws(VaultError) -> Value {
        if let object = type as? any StoredObject.Type, let value = try object.init(stored: self, of: key) as? Value {
            return value
        }
        do { return try decoded(as: type) } catch {
            throw VaultError(unreadable: ConversionFailure(error), of: key, as: type, self)
        }
    }
}
