import Vault

/// The parts of an account that lie in a store among other values.
struct PlainKeys {
    let values: [String: StoredValue]
    private let store: any ValueStore

    init(_ names: AccountFieldNames, in store: any ValueStore) throws(VaultError) {
        var values: [String: StoredValue] = [:]
        for name in names.all { values[name] = try store.value(of: name) }
        self.values = values
        self.store = store
    }

    /// Removes them durably, unless someone has changed one since they were read. That someone has removed them all is fine.
    ///
    /// - Throws: ``VaultError`` with `busy` if one was changed.
    func remove() throws(VaultError) {
        let removals = values.mapValues { _ in StoredValue?.none }
        if try !store.commit(StoreBatch(removals, expecting: values.mapValues { $0 })) {
            for name in values.keys where try store.value(of: name) != nil {
                throw VaultError(.busy, "Someone changed the older account meanwhile; migrate it again.")
            }
        }
        try store.makeDurable()
    }
}
