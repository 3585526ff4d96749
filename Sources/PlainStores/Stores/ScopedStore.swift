import LinuxSystem

/// The part of a store that belongs to one scope, such as a user.
///
/// In the underlying store, the scope's keys are `scope/key`, with `%` and `/` encoded in the scope's name. So one
/// scope can neither see nor change another scope's values, but the underlying store shows the values of all scopes.
public struct ScopedStore: ValueStore {
    package let base: any ValueStore
    package let prefix: String
    package private(set) var forgetsHistory = false

    init(_ base: any ValueStore, scope: String) {
        self.base = base
        prefix = scope.scopePrefix
    }

    /// Returns a store for the same scope. In a keychain, each change through the returned store also drops the key's
    /// earlier values from the history. Use it for tokens that are useless or harmful once they are replaced.
    public func forgettingHistory() -> ScopedStore {
        var store = self
        store.forgetsHistory = true
        return store
    }

    public var changes: ChangeFeed { base.changes }
    public var failures: FailureLog { base.failures }
    public var identity: StoreIdentity { base.identity.scoped(to: prefix) }

    public func value(of key: String) throws(VaultError) -> StoredValue? { try base.value(of: prefix + key) }

    public func keys(prefix: String) throws(VaultError) -> [String] {
        try base.keys(prefix: self.prefix + prefix).map { $0.dropping(self.prefix) }
    }

    public func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        let contents = try base.contents(prefix: self.prefix + prefix)
        return Dictionary(contents.map { ($0.key.dropping(self.prefix), $0.value) }) { first, _ in first }
    }

    public func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        var scoped = StoreBatch(scoped(batch.changes), expecting: scoped(batch.expectations))
        scoped.forgetsHistory = batch.forgetsHistory || forgetsHistory
        return try base.commit(scoped)
    }

    public func makeDurable() throws(VaultError) { try base.makeDurable() }
    public func eraseRemoved() throws(VaultError) { try base.eraseRemoved() }

    public func acquireLock(_ name: String) async throws(VaultError) -> NameLock {
        try await base.acquireLock(prefix + name)
    }

    private func scoped(_ values: [String: StoredValue?]) -> [String: StoredValue?] {
        Dictionary(uniqueKeysWithValues: values.map { (prefix + $0.key, $0.value) })
    }
}

extension String {
    /// The prefix of a scope's keys. Slashes are encoded, so no scope's prefix begins with another scope's prefix.
    package var scopePrefix: String { PercentEncoding.encoded(self) { !"%/".utf8.contains($0) } + "/" }

    /// Returns the part after a prefix. Counts bytes, since Swift merges a character with an accent that follows it.
    package func dropping(_ prefix: String) -> String {
        String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}

extension ValueStore {
    /// Returns the part of this store that belongs to a scope, such as a user's id.
    public func scoped(to scope: String) -> ScopedStore { ScopedStore(self, scope: scope) }
}

/// The kinds of names in error messages: entry names, value keys and attribute keys. All follow the same rule.
package enum Naming: String, Sendable {
    case name, key
    /// The key of an attribute. The rule applies to attribute keys only in drops, whose unknown senders choose them.
    case attribute = "key of an attribute"

    /// Throws ``VaultError/Code/invalid`` unless `text` has 1 to 1,024 bytes of UTF-8 without control characters.
    package func check(_ text: String) throws(VaultError) {
        guard NameRule.allows(text) else { throw refusal(of: text) }
    }

    package func refusal(of text: String) -> VaultError {
        let other = "it contains a control character, such as a newline or a tab"
        let reason = text.isEmpty ? "empty" : text.utf8.count > NameRule.maximumSize ? "longer than 1,024 bytes" : other
        return VaultError(.invalid, "Invalid \(rawValue): \(reason).")
    }
}

/// A reference to a store that need not be open. Each use looks up the store.
public struct StoreReference: Sendable {
    /// The log to which an error is reported if the store cannot be opened.
    let failures: FailureLog
    let resolve: @Sendable () throws(VaultError) -> any ValueStore
    /// The name, store and type that the key had in earlier versions of the program.
    private(set) var history = KeyHistory()

    /// Creates a reference to the store that a function returns at each use. Calls that cannot throw, such as a
    /// property's getter, report the function's errors to `failures` instead.
    public init(
        failures: FailureLog = FailureLog(), _ resolve: @escaping @Sendable () throws(VaultError) -> any ValueStore
    ) {
        self.failures = failures
        self.resolve = resolve
    }

    /// Returns a reference that always resolves to `store`.
    public static func store(_ store: some ValueStore) -> StoreReference {
        StoreReference(failures: store.failures) { store }
    }

    func with(_ history: KeyHistory) -> StoreReference {
        var reference = self
        reference.history = history
        return reference
    }

    /// Returns the store to which the reference currently resolves.
    ///
    /// - Throws: ``VaultError``, as ``Keychain/standard`` and the other standard stores do.
    public func store() throws(VaultError) -> any ValueStore { try resolve() }

    /// Returns a reference to a scope of the store, as ``ValueStore/scoped(to:)`` does.
    public func scoped(to scope: String) -> StoreReference {
        StoreReference(failures: failures) { () throws(VaultError) in try resolve().scoped(to: scope) }
    }
}

/// The earlier name, store and type of a key (see <doc:MovingValues>).
struct KeyHistory: Sendable {
    /// A function that returns the store in which earlier versions kept the value; nil if the store has not changed.
    var oldStore: (@Sendable () throws(VaultError) -> any ValueStore)?
    /// The value's name in the former store; nil if the name has not changed.
    var oldName: String?
    /// Converts a value of an earlier type to its current form; returns nil for a value of any other type.
    var conversion: (@Sendable (StoredValue) -> StoredValue?)?

    var isMoved: Bool { oldStore != nil || oldName != nil }
}
