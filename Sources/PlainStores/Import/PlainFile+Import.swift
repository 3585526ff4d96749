package import LinuxSystem

extension PlainFile {
    /// Moves the values that an older program kept in a plain file to stores, once, and then removes the file: see
    /// <doc:MovingValues>.
    ///
    /// - Parameters:
    ///   - path: a file that ``init(path:)`` can read.
    ///   - isReplacing: whether the file's value replaces another one that a store has.
    ///   - destination: returns the store for the value of a key, such as `.keychain` for a secret; nil if the value is
    ///     only removed with the file. Keys are used as they are.
    /// - Returns: the keys that have a destination, sorted bytewise; nil if there is no file: it was imported before,
    ///   or there is nothing to do.
    /// - Throws: ``VaultError`` with `damaged` as ``init(path:)``, `exists` if a store has another value, `invalid` for
    ///   what a store cannot hold, `busy` if others change the file or the same keys meanwhile, and what the stores
    ///   throw. The file then stays; the import can be run again.
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
        // All values are checked before any is changed, so that a refusal changes nothing.
        for (key, value) in file.values {
            guard let store = try destination(key)?.resolve() else { continue }
            let identity = store.identity
            // Removed from the dictionary first: two references would make each addition copy the whole batch.
            var prepared = imports.removeValue(forKey: identity) ?? PreparedImport(store: store)
            guard try prepared.add(key, value, replacing: isReplacing) else {
                throw VaultError(
                    .exists, "\"\(key)\" has another value already than the one in \(path); nothing was imported.")
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
    /// Expects each key to still have the value that was read.
    private(set) var batch = StoreBatch([:])

    init(store: any ValueStore) { self.store = store }

    /// - Returns: false if the store has another value, which must not be touched.
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
            throw VaultError(.busy, "The same keys were changed meanwhile; run the import again.")
        }
        // Flushes values that were there already, too: an interrupted import may have left them unflushed.
        try store.makeDurable()
    }
}
