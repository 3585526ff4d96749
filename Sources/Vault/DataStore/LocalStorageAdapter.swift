public import FoundationEssentials

/// Offers a store in the form that many client libraries require for their session: data by name.
///
/// ```swift
/// extension LocalStorageAdapter: @retroactive AuthLocalStorage {}  // Supabase's protocol: no code is needed
/// let storage = LocalStorageAdapter(in: keychain.scoped(to: "supabase"))
/// ```
///
/// The values are those of a ``KeychainStorable`` of Data. Calls block until the change is on the disk.
public struct LocalStorageAdapter: Sendable {
    private let home: StoreReference

    /// - Parameter store: the store of the data; if nil, ``Keychain/standard``, which each call looks up again.
    public init(in store: (any ValueStore)? = nil) { home = .given(store, or: .keychain) }

    /// Sets the data of a key, as ``StoredKeyed/write(_:)`` does.
    public func store(key: String, value: Data) throws(VaultError) { try stored(key).write(value) }

    /// Returns the data of a key, as ``StoredKeyed/read()`` does; nil if, and only if, there is none.
    public func retrieve(key: String) throws(VaultError) -> Data? { try stored(key).read() }

    /// Removes the data of a key, as ``StoredKeyed/remove()`` does.
    public func remove(key: String) throws(VaultError) { try stored(key).remove() }

    private func stored(_ key: String) -> StoredKey<Data> { StoredKey(key, in: home) }
}
