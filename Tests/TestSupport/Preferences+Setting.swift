package import PlainStores
package import PropertyList

extension Preferences {
    /// Sets or removes one value.
    package func set(_ key: String, _ value: StoredValue?) throws(VaultError) {
        _ = try commit(StoreBatch([key: value]))
    }
}
