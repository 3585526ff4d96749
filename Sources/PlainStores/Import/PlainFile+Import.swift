package import LinuxSystem

extension PlainFile {
    /// Moves the values in an older program's plain file to stores, and then removes the file (see <doc:MovingValues>).
    ///
    /// - Parameters:
    ///   - path: the path of a file that ``init(path:)`` can read.
    ///   - isReplacing: whether the file's values replace different ones in the stores; if not, those throw `exists`.
    ///   - destination: returns the store for a key's value, such as `.keychain` for a secret, or nil to drop the value
    ///     together with the file. A value keeps its key.
    /// - Returns: the keys that have a destination, sorted bytewise; nil if the file does not exist, for example
    ///   because it has already been imported.
    /// - Throws: ``VaultError``: `damaged`, as ``init(path:)`` does; `exists` if a store has a different value;
    ///   `invalid` for a value that a store cannot hold; `busy` if another process changes the file or one of the keys
    ///   during the import; the errors of the stores. After an error, the file remains, and the import can be repeated.
    @discardableResult
    public static func importValues(
        from path: String, replacing isReplacing: Bool = false, to destination: (_ key: String) -> StoreReference?
    ) throws(VaultError) -> [String]? {
        try importValues(from: path, replacing: isReplacing, in: PosixFileSystem(), to: destination)
    }

    package static func importValues(
        from path: String, replacing isReplacing: Bool = false, in fileSystem: any FileSystem,
        to destination: (_ key: String) -> StoreReference?
    ) throws(VaultError) -> [String]? {
        guard let file = try PlainFile(path: path, in: fileSystem) else { return nil }
        var imports: [StoreIdentity: PreparedImport] = [:]
        // All values are checked before any store is changed, so that a failed check changes nothing.
        for (key, value) in file.values {
            guard let store = try destination(key)?.resolve() else { continue }
            let identity = store.identity
            // The import is removed from `imports`, since a second reference would make `add` copy the whole batch.
            var prepared = imports.removeValue(forKey: identity) ?? PreparedImport(store: store)
            guard try prepared.add(key, value, replacing: isReplacing) else {
                throw VaultError(
                    .exists, "\"\(key)\" has a different value in its store than in \(path). Nothing was imported.")
            }
            imports[identity] = prepared
        }
        for prepared in imports.values { try prepared.commit() }
        try file.remove()
        return imports.values.flatMap(\.batch.expectations.keys).sortedByBytes()
    }
}

private struct PreparedImport {
    let store: any ValueStore
    /// The changes to commit. The batch's expectations are the values that `add` has read from the store.
    private(set) var batch = StoreBatch([:])

    init(store: any ValueStore) { self.store = store }

    /// Adds a key's value to the batch. Returns false if the store has a different value and `isReplacing` is false.
    mutating func add(_ key: String, _ value: StoredValue, replacing isReplacing: Bool) throws(VaultError) -> Bool {
        try Naming.key.check(key)
        let present = try store.value(of: key)
        batch.expectations.updateValue(present, forKey: key)
        guard present != value else { return true }
        guard present == nil || isReplacing else { return false }
        batch.changes.updateValue(value, forKey: key)
        return true
    }

    func commit() throws(VaultError) {
        if !batch.changes.isEmpty, try !store.commit(batch) {
            throw VaultError(.busy, "Another process changed one of the imported keys. Run the import again.")
        }
        // Also flushes values that the store already had, since an interrupted import may have left them unflushed.
        try store.makeDurable()
    }
}
