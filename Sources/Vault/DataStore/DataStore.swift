/// Keeps values of any Codable type under keys: the async face of the stores, for code that takes any store.
///
/// ```swift
/// let store: any DataStore = try Keychain.standard
/// try await store.write(profile, for: "u.profile")
/// let profile = try await store.read("u.profile", as: Profile.self)
/// ```
///
/// The library's stores are such stores; a ``ValueStore`` of your own becomes one by an empty extension. They keep a
/// value in the same form as a key of its type, such as a ``KeychainStorable`` of String.
///
/// Calls leave the caller's actor and block another thread, for ten seconds at most: see <doc:Gotchas>. They cannot be
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
    func delete(_ key: String) async throws(VaultError)
}

extension Keychain: DataStore {}
extension Preferences: DataStore {}
extension MemoryStore: DataStore {}
extension ScopedStore: DataStore {}

// A type that is a StoredObject has one stored form, even if it is Codable too.

extension ValueStore {
    /// ``DataStore/read(_:as:)``
    @concurrent
    public func read<Value: Decodable & Sendable>(
        _ key: String, as type: Value.Type
    ) async throws(VaultError) -> Value? {
        try Keychain.checkName(key)
        guard let stored = try value(of: key) else { return nil }
        if let object = type as? any StoredObject.Type, let value = try object.init(stored: stored, of: key) as? Value {
            return value
        }
        do { return try stored.decoded(as: type) } catch {
            throw VaultError(unreadable: ConversionFailure(error), of: key, as: type, stored)
        }
    }

    /// ``DataStore/write(_:for:)``
    @concurrent
    public func write<Value: Encodable & Sendable>(_ value: Value, for key: String) async throws(VaultError) {
        try Keychain.checkName(key)
        let stored: StoredValue
        if let object = value as? any StoredObject {
            stored = try object.storedValue(for: key)
        } else {
            do { stored = try StoredValue(encoding: value) } catch {
                throw VaultError(unstorable: ConversionFailure(error), for: key, Value.self)
            }
        }
        _ = try commit(StoreBatch([key: stored]))
    }

    /// ``DataStore/delete(_:)``
    @concurrent
    public func delete(_ key: String) async throws(VaultError) {
        try Keychain.checkName(key)
        _ = try commit(StoreBatch([key: nil]))
    }
}
