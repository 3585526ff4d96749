/// Keeps values of any Codable type under keys: the async face of the stores, for code that takes any store.
///
/// ```swift
/// let store: any DataStore = try Keychain.standard
/// try await store.write(profile, for: "u.profile")
/// let kept = try await store.read("u.profile", as: Profile.self)
/// ```
///
/// The library's stores are such stores; a ``ValueStore`` of your own becomes one by an empty extension. They keep a
/// value in the same form as a key of its type, such as a ``KeychainStorable`` of String.
///
/// Calls run on threads of the library's own, which they may block for ten seconds: see <doc:Gotchas>. They cannot be
/// cancelled half way.
public protocol DataStore: Sendable {
    /// Returns the value of a key; nil if, and only if, there is none.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `busy` and `unavailable` if the store cannot be read; `wrongType`
    ///   and `unreadable` if the value is not of this type; `invalid` for an invalid key.
    func read<Value: Decodable & Sendable>(_ key: String, as type: Value.Type) async throws(VaultError) -> Value?

    /// Sets the value of a key; the store has it when this returns.
    ///
    /// - Throws: ``VaultError`` as ``read(_:as:)``; `invalid` also for a value that the store cannot hold. The former
    ///   value stays, unless the error is `outcomeUnknown`.
    func write<Value: Encodable & Sendable>(_ value: Value, for key: String) async throws(VaultError)

    /// Removes the value of a key, if it has one.
    ///
    /// - Throws: ``VaultError`` as ``write(_:for:)``.
    func remove(_ key: String) async throws(VaultError)
}

// Keys that an enum lists: a case's raw value is its key.
extension DataStore {
    /// Returns the value of a key that an enum lists, as ``read(_:as:)-(String,_)`` does.
    public func read<Value: Decodable & Sendable>(
        _ key: some RawRepresentable<String> & Sendable, as type: Value.Type
    ) async throws(VaultError) -> Value? {
        try await read(key.rawValue, as: type)
    }

    /// Sets the value of a key that an enum lists, as ``write(_:for:)-(_,String)`` does.
    public func write<Value: Encodable & Sendable>(
        _ value: Value, for key: some RawRepresentable<String> & Sendable
    ) async throws(VaultError) {
        try await write(value, for: key.rawValue)
    }

    /// Removes the value of a key that an enum lists, as ``remove(_:)-(String)`` does.
    public func remove(_ key: some RawRepresentable<String> & Sendable) async throws(VaultError) {
        try await remove(key.rawValue)
    }
}

extension Preferences: DataStore {}
extension MemoryStore: DataStore {}
extension ScopedStore: DataStore {}

extension ValueStore {
    /// ``DataStore/read(_:as:)``
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

    /// ``DataStore/write(_:for:)``
    public func write<Value: Encodable & Sendable>(_ value: Value, for key: String) async throws(VaultError) {
        try await asynchronously { (store) throws(VaultError) in
            try Naming.key.check(key)
            _ = try store.commitChecked(StoreBatch([key: StoredValue(converting: value, for: key)]))
        }
    }

    /// ``DataStore/remove(_:)``
    public func remove(_ key: String) async throws(VaultError) {
        try await asynchronously { (store) throws(VaultError) in
            try Naming.key.check(key)
            _ = try store.commitChecked(StoreBatch([key: nil]))
        }
    }
}

// A type that is a StoredObject has one stored form, even if it is Codable too.

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
