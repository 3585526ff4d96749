/// What a user has done, or where they left off, under keys that an enum lists.
///
/// ```swift
/// enum UserAction: String { case firstLogin, indicatorIndex }
///
/// let actions = UserActions<UserAction>(in: Preferences(suite: userID))
/// try await actions.mark(.firstLogin)
/// try await actions.write(3, for: .indicatorIndex)
/// let index = try await actions.read(.indicatorIndex, as: Int.self)
/// ```
///
/// A case's raw value is its key: keep it when the case gets another name. For each user take a store of their own,
/// `Preferences(suite: userID)` or `keychain.scoped(to: userID)`; none sees another's values.
public struct UserActions<Action: RawRepresentable & Sendable>: Sendable where Action.RawValue == String {
    private let store: any DataStore

    /// - Parameter store: where the actions lie.
    public init(in store: any DataStore) {
        self.store = store
    }

    /// Notes that an action was done, once and for all: until ``delete(_:)``.
    ///
    /// - Throws: ``VaultError`` as ``DataStore/write(_:for:)``.
    public func mark(_ action: Action) async throws(VaultError) {
        try await store.write(true, for: action.rawValue)
    }

    /// Whether an action was marked.
    ///
    /// - Throws: ``VaultError`` as ``DataStore/read(_:as:)``; `wrongType` if something else than a mark was written for it.
    public func isDone(_ action: Action) async throws(VaultError) -> Bool {
        try await store.read(action.rawValue, as: Bool.self) ?? false
    }

    /// The value that was written for an action; nil if there is none.
    ///
    /// - Throws: ``VaultError`` as ``DataStore/read(_:as:)``.
    public func read<Value: Decodable & Sendable>(
        _ action: Action, as type: Value.Type
    ) async throws(VaultError) -> Value? {
        try await store.read(action.rawValue, as: type)
    }

    /// Sets the value of an action.
    ///
    /// - Throws: ``VaultError`` as ``DataStore/write(_:for:)``.
    public func write<Value: Encodable & Sendable>(_ value: Value, for action: Action) async throws(VaultError) {
        try await store.write(value, for: action.rawValue)
    }

    /// Forgets an action: its mark or its value.
    ///
    /// - Throws: ``VaultError`` as ``DataStore/delete(_:)``.
    public func delete(_ action: Action) async throws(VaultError) {
        try await store.delete(action.rawValue)
    }
}
