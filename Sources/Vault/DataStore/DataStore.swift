/// Keeps values of any Codable type under keys: the async face of the stores, for code that takes "some place to keep things".
///
/// ```swift
/// let store: any DataStore = try Keychain.standard
/// try await store.write(profile, for: "u.profile")
/// let profile = try await store.read("u.profile", as: Profile.self)
/// ```
///
/// ``Keychain``, ``Preferences``, ``MemoryStore`` and ``ScopedStore`` are such stores; a ``ValueStore`` of your own becomes one by an empty
/// extension. They keep a value in the form in which a key of its type does, so both see the same: what is written here as a String
/// is there for a ``KeychainStorable`` of String.
///
/// Their calls leave the caller's actor, and then block a thread while the disk writes and while another process holds
/// the file, instead of suspending: milliseconds as a rule, ten seconds at most. They cannot be cancelled half way.
public protocol DataStore: Sendable {
    /// The value of a key; nil if, and only if, there is none.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `busy` and `unavailable` if the store cannot be read; `wrongType` and `unreadable`
    ///   if the value is none of this type; `invalid` for what is no key.
    func read<Value: Decodable & Sendable>(_ key: String, as type: Value.Type) async throws(VaultError) -> Value?

    /// Sets the value of a key; the store has it when this returns.
    ///
    /// - Throws: ``VaultError`` as ``read(_:as:)``; `invalid` also for a value that the store cannot hold. What was there holds, unless
    ///   the error is `outcomeUnknown`.
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
