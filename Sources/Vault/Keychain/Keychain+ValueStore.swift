import FoundationEssentials
import SealedLog
import Sealing

// Through the typed API a value leaves guarded memory: it is to become a String, a Data, a struct. What has to stay guarded
// is read with ``Keychain/withSecret(_:_:)`` and ``KeychainStorable/withSecret(_:)``.

extension Keychain: ValueStore {
    /// The same for two keychains on one vault: a process has one log for each.
    public var identity: StoreIdentity { StoreIdentity(log) }

    public func value(of key: String) throws(VaultError) -> StoredValue? {
        try Keychain.checkName(key)
        guard let opened = try translated({ () throws(LogError) in try log.openTagged(key) }) else { return nil }
        return try StoredValue(opened, of: key)
    }

    public func keys(prefix: String) throws(VaultError) -> [String] {
        try names(prefix: prefix)
    }

    public func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        let values = try translated { () throws(LogError) in
            try log.openTagged(prefix: Array(prefix.utf8)) { name, opened in
                Result { () throws(VaultError) in (name.text, try StoredValue(opened, of: name.text)) }
            }
        }
        var contents: [String: StoredValue] = [:]
        for value in values {
            let (name, value) = try value.get()
            contents[name] = value
        }
        return contents
    }

    /// Compacts the vault.
    public func eraseRemoved() throws(VaultError) {
        try compact()
    }

    public func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        var contention = Contention(patience: options.lockTimeout)
        while true {
            var transaction = Transaction(on: self)
            let holds = try batch.holds { (key) throws(VaultError) in try transaction.storedValue(of: key) }
            guard holds else { return false }
            try transaction.make(batch.changes)
            if try commitUnlessConflicting(transaction) { return true }
            // Someone else was faster. Whether what the batch expects still holds is looked at anew.
            try contention.pause()
        }
    }
}

extension Keychain: SecretStore {
    func setSecret(_ name: String, to value: borrowing SecretBytes) throws(VaultError) {
        try set(name, to: value)
    }
}

extension StoredValue {
    /// - Throws: ``VaultError/Code/unreadable`` if a later version has written the value, or bytes that break its kind.
    fileprivate init(_ opened: borrowing OpenedValue, of key: String) throws(VaultError) {
        let value = opened.bytes.withUnsafeBytes { StoredValue(kind: ValueKind(rawValue: opened.kind), $0) }
        guard let value else {
            throw VaultError(
                .unreadable,
                "The value of \"\(key)\" is of the kind \(opened.kind), which this version of the library cannot read.")
        }
        self = value
    }
}

extension Transaction {
    /// The value of a name in the vault; the transaction relies on just this one from now on.
    fileprivate mutating func storedValue(of name: String) throws(VaultError) -> StoredValue? {
        let opened = try keychain.translated { () throws(LogError) in
            try keychain.log.openTagged(name)
        }
        guard let opened else {
            rely(on: nil, for: try keychain.checked(name))
            return nil
        }
        rely(on: opened.nonce, for: try keychain.checked(name))
        return try StoredValue(opened, of: name)
    }

    fileprivate mutating func make(_ changes: [String: StoredValue?]) throws(VaultError) {
        for (name, value) in changes {
            if let value {
                try set(name, toStored: value)
            } else {
                try remove(name)
            }
        }
    }

    private mutating func set(_ name: String, toStored value: StoredValue) throws(VaultError) {
        let (kind, bytes) = try value.encoded(for: name)
        var encoded = bytes
        defer { encoded.withUnsafeMutableBytes { Wiping.wipe($0) } }
        let guarded = try keychain.guarded { () throws(SealingError) in try SecretBytes(copying: encoded) }
        try set(name, to: guarded, kind: kind, attributes: nil)
    }
}
