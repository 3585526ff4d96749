/// Names a store without opening it: it is found anew at each use.
public struct StoreReference: Sendable {
    /// Where the store's errors go if it cannot be opened.
    let failures: FailureLog
    let resolve: @Sendable () throws(VaultError) -> any ValueStore

    /// The store, as it is found now.
    ///
    /// - Throws: ``VaultError`` as ``Keychain/standard`` and its siblings.
    public func store() throws(VaultError) -> any ValueStore {
        try resolve()
    }

    /// ``Keychain/standard``.
    public static let keychain = StoreReference(failures: Keychain.standardFailures) { () throws(VaultError) in
        try Keychain.standard
    }

    /// ``Preferences/standard``.
    public static let preferences = StoreReference(failures: Preferences.standardFailures) { () throws(VaultError) in
        try Preferences.standard
    }

    /// ``MemoryStore/standard``.
    public static let memory = StoreReference(failures: MemoryStore.standardFailures) { () throws(VaultError) in
        try MemoryStore.standard
    }

    /// A store that is found by a function, anew at each use: one that can be locked at times, say.
    ///
    /// - Parameter failures: where a failure to find it is reported by what cannot throw, such as a property's getter.
    public init(
        failures: FailureLog = FailureLog(), _ resolve: @escaping @Sendable () throws(VaultError) -> any ValueStore
    ) {
        self.failures = failures
        self.resolve = resolve
    }

    /// A scope of the store, as ``ValueStore/scoped(to:)`` gives it.
    public func scoped(to scope: String) -> StoreReference {
        StoreReference(failures: failures) { () throws(VaultError) in try resolve().scoped(to: scope) }
    }

    /// A store at hand.
    public static func store(_ store: some ValueStore) -> StoreReference {
        StoreReference(failures: store.failures) { store }
    }
}
