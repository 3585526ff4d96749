import LinuxSystem

/// The part of a store that belongs to one scope, such as a user.
///
/// The store below has its keys as `scope/key`, with `%` and `/` encoded in the scope's name: one scope can neither see
/// nor change another's values. The store below shows them all.
public struct ScopedStore: ValueStore {
    package let base: any ValueStore
    package let prefix: String
    package private(set) var forgetsHistory = false

    init(_ base: any ValueStore, scope: String) {
        self.base = base
        prefix = scope.scopePrefix
    }

    /// Returns the same scope, whose changes keep no earlier values in the history of a keychain: for tokens that are
    /// useless or harmful once they are replaced.
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
    /// The prefix of the names of a scope's entries. Slashes are encoded, so that no scope's prefix begins another's.
    package var scopePrefix: String { PercentEncoding.encoded(self) { !"%/".utf8.contains($0) } + "/" }

    /// Returns the text after a prefix. Bytes are compared, since an accent may combine with the character before.
    package func dropping(_ prefix: String) -> String {
        String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}

extension ValueStore {
    /// Returns the part of this store that belongs to a scope, such as a user's id.
    public func scoped(to scope: String) -> ScopedStore { ScopedStore(self, scope: scope) }
}

/// The kind of name that a text is, as error messages call it: the name of an entry, or the key of a value in any
/// store. The rule is the same for both.
package enum Naming: String, Sendable {
    case name, key
    /// The key of an attribute. Only attributes that somebody else has written are checked.
    case attribute = "key of an attribute"

    /// - Throws: ``VaultError`` with `invalid` unless it has 1 to 1,024 bytes of UTF-8 without control characters.
    package func check(_ text: String) throws(VaultError) {
        guard NameRule.allows(text) else { throw refusal(of: text) }
    }

    package func refusal(of text: String) -> VaultError {
        let other = "it contains a control character, such as a newline or a tab"
        let reason = text.isEmpty ? "empty" : text.utf8.count > NameRule.maximumSize ? "longer than 1,024 bytes" : other
        return VaultError(.invalid, "Invalid \(rawValue): \(reason).")
    }
}
