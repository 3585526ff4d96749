import LinuxSystem
import Synchronization

extension Preferences {
    /// The same for two preferences on one file.
    public var identity: StoreIdentity {
        do { return StoreIdentity(file: try path) } catch { return StoreIdentity(self) }
    }

    public func value(of key: String) throws(VaultError) -> StoredValue? {
        try Keychain.checkName(key)
        if let pending = pending.withLock({ $0.changes[key] }) { return pending }
        return try current().values[key].map(StoredValue.init(propertyList:))
    }

    public func keys(prefix: String) throws(VaultError) -> [String] {
        Array(try contents(prefix: prefix).keys).sortedByBytes()
    }

    public func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        // Read within the lock: what leaves the pending changes is in the file by then.
        try pending.withLock { (pending) throws(VaultError) in
            var contents = try current().values.filter { $0.key.utf8.starts(with: prefix.utf8) }
                .mapValues(StoredValue.init(propertyList:))
            for (key, value) in pending.changes where key.utf8.starts(with: prefix.utf8) { contents[key] = value }
            return contents
        }
    }

    public func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        for key in batch.changes.keys { try Keychain.checkName(key) }
        let committed =
            switch writing {
            case .atOnce: try writer.withLock { _ throws(VaultError) in try replaceFile(batch) }
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

    /// Writes a batch's changes into the file, durably, if its expectations hold. The writer's lock is held.
    func replaceFile(_ batch: StoreBatch) throws(VaultError) -> Bool {
        let changes = try batch.propertyLists()
        var holds = false
        let new = try file.get().update { (values) throws(VaultError) in
            holds = try batch.holds { (key) throws(VaultError) in values[key].map(StoredValue.init(propertyList:)) }
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
