/// Stores what a user has done, or where they left off, under keys that an enum lists: see <doc:WhichStoreForWhat>.
///
/// A case's raw value is its key: keep it when you rename the case. Use a separate store for each user,
/// `Preferences(suite: userID)` or `keychain.scoped(to: userID)`, so that none sees another's values.
public struct UserActions<Action: RawRepresentable & Sendable>: Sendable where Action.RawValue == String {
    private let store: any DataStore

    /// - Parameter store: the store of the actions.
    public init(in store: any DataStore) { self.store = store }

    /// Records that an action was done. It stays so until ``remove(_:)``.
    ///
    /// - Throws: ``VaultError`` as ``DataStore/write(_:for:)``.
    public func mark(_ action: Action) async throws(VaultError) { try await store.write(true, for: action.rawValue) }

    /// Returns whether an action was marked.
    ///
    /// - Throws: ``VaultError`` as ``DataStore/read(_:as:)``; `wrongType` if a value other than a mark was written for
    ///   it.
    public func isDone(_ action: Action) async throws(VaultError) -> Bool {
        try await store.read(action.rawValue, as: Bool.self) ?? false
    }

    /// Returns the value that was written for an action, as ``DataStore/read(_:as:)`` does.
    public func read<Value: Decodable & Sendable>(
        _ action: Action, as type: Value.Type
    ) async throws(VaultError) -> Value? {
        try await store.read(action.rawValue, as: type)
    }

    /// Sets the value of an action, as ``DataStore/write(_:for:)`` does.
    public func write<Value: Encodable & Sendable>(_ value: Value, for action: Action) async throws(VaultError) {
        try await store.write(value, for: action.rawValue)
    }

    /// Removes an action's mark or value, as ``DataStore/remove(_:)`` does.
    public func remove(_ action: Action) async throws(VaultError) { try await store.remove(action.rawValue) }
}
