import LinuxSystem
import PropertyList
import Synchronization

extension Preferences {
    /// The same for two preferences on one file.
    public var identity: StoreIdentity {
        do { return StoreIdentity(file: try path) } catch { return StoreIdentity(self) }
    }

    public func value(of key: String) throws(VaultError) -> StoredValue? {
        try Keychain.checkName(key)
        if let pending = pending.withLock({ $0.changes[key] }) { return pending }
        return try current().values[key].map(StoredValue.init)
    }

    public func keys(prefix: String) throws(VaultError) -> [String] {
        Array(try contents(prefix: prefix).keys).sortedByBytes()
    }

    public func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        // Read within the lock: what leaves the pending changes is in the file by then.
        try pending.withLock { (pending) throws(VaultError) in
            var contents = try current().values.filter { $0.key.utf8.starts(with: prefix.utf8) }
                .mapValues(StoredValue.init)
            for (key, value) in pending.changes where key.utf8.starts(with: prefix.utf8) { contents[key] = value }
            return contents
        }
    }

    public func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        for key in batch.changes.keys { try Keychain.checkName(key) }
        let committed =
            switch writing {
            case .atOnce: try write(batch)
            case .coalesced(let interval): try gather(batch, interval)
            }
        if committed { changes.notify() }
        return committed
    }

    /// What the file holds; read anew only if it is another one or was changed.
    func current() throws(VaultError) -> PreferencesSnapshot {
        let file = try file.get()
        let status = try file.status()
        if let kept = snapshot.withLock({ $0 }), kept.isCurrent(status) { return kept }
        let new = try file.read()
        snapshot.withLock { $0 = new }
        return new
    }

    private func write(_ batch: StoreBatch) throws(VaultError) -> Bool {
        let changes = try batch.changes.asPropertyLists()
        return try writer.withLock { _ throws(VaultError) in try replaceFile(changes, batch) }
    }

    /// Puts changes into the file, durably, if a batch's expectations hold. The writer's lock is held.
    func replaceFile(_ changes: [String: PropertyList?], _ batch: StoreBatch) throws(VaultError) -> Bool {
        var holds = false
        let new = try file.get().update { (values) throws(VaultError) in
            holds = try batch.holds { (key) throws(VaultError) in values[key].map(StoredValue.init) }
            guard holds else { return false }
            let former = values
            for (key, value) in changes { values[key] = value }
            return values != former
        }
        if let new {
            durable.withLock { $0 = new.status }
            snapshot.withLock { $0 = new }
        } else if holds {
            // Nothing to change. But what is there may be a write that nobody has flushed: its flush failed, or its process was killed.
            try makeFileDurable()
        }
        return holds
    }
}

extension [String: StoredValue?] {
    /// - Throws: ``VaultError/Code/invalid`` for a value that a property list cannot hold.
    func asPropertyLists() throws(VaultError) -> [String: PropertyList?] {
        var lists: [String: PropertyList?] = [:]
        for (key, value) in self { lists.updateValue(try value?.propertyList(for: key), forKey: key) }
        return lists
    }
}
