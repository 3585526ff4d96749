/// A reference to a store that need not be open. Each use looks up the store.
public struct StoreReference: Sendable {
    /// The log of errors that occur because the store cannot be opened.
    let failures: FailureLog
    let resolve: @Sendable () throws(VaultError) -> any ValueStore
    /// The name, store and type that the key had in earlier versions of its program.
    private(set) var history = KeyHistory()

    /// Creates a reference to the store that a function returns at each use. Calls that cannot throw, such as a
    /// property's getter, report the function's errors to `failures`.
    public init(
        failures: FailureLog = FailureLog(), _ resolve: @escaping @Sendable () throws(VaultError) -> any ValueStore
    ) {
        self.failures = failures
        self.resolve = resolve
    }

    /// Returns a reference to an existing store.
    public static func store(_ store: some ValueStore) -> StoreReference {
        StoreReference(failures: store.failures) { store }
    }

    func with(_ history: KeyHistory) -> StoreReference {
        var reference = self
        reference.history = history
        return reference
    }

    /// Returns the store to which the reference resolves now.
    ///
    /// - Throws: ``VaultError`` as ``Keychain/standard`` and the other standard stores.
    public func store() throws(VaultError) -> any ValueStore { try resolve() }

    /// Returns a reference to a scope of the store, as ``ValueStore/scoped(to:)`` does.
    public func scoped(to scope: String) -> StoreReference {
        StoreReference(failures: failures) { () throws(VaultError) in try resolve().scoped(to: scope) }
    }
}

/// The earlier name, store and type of a key (see <doc:MovingValues>).
struct KeyHistory: Sendable {
    /// Returns the former store of the value; nil if it is the same one.
    var oldStore: (@Sendable () throws(VaultError) -> any ValueStore)?
    /// The value's name in the former store; nil if it is the same one.
    var oldName: String?
    /// Converts a value of an earlier type to its current form; returns nil for a value of any other type.
    var conversion: (@Sendable (StoredValue) -> StoredValue?)?

    var isMoved: Bool { oldStore != nil || oldName != nil }
}
