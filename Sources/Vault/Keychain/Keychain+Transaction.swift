public import FoundationEssentials
import SealedLog

extension Keychain {
    /// Changes to several names that are written atomically.
    ///
    /// Reads within the transaction reflect its own changes. If another process or thread changes an entry that the
    /// transaction has read, or creates one that was absent when read, the transaction runs again.
    public struct Transaction: ~Copyable, OptimisticTransaction {
        let keychain: Keychain
        /// The changes, which are written only if no entry has changed since this transaction first read it.
        private var changes = ChangeList()
        private var nonces = NonceSource()
        private var forgetsHistory = false
        var liftsPolicies = false

        fileprivate init(on keychain: Keychain) { self.keychain = keychain }

        /// Sets a value.
        ///
        /// - Parameters:
        ///   - attributes: the new attributes; nil keeps the current ones.
        ///   - expires: the time at which the name becomes absent; see the keychain's `set` method.
        /// - Throws: ``VaultError`` with `invalid` for an invalid name, value or attribute; `unavailable`.
        public mutating func set(
            _ name: String, to value: borrowing SecretBytes, attributes: [String: String]? = nil, expires: Date? = nil
        ) throws(VaultError) {
            try set(name, to: value, kind: .unspecified, attributes: attributes, expires: expires)
        }

        /// Sets a value to a string.
        ///
        /// - Throws: the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
        public mutating func set(
            _ name: String, to text: String, attributes: [String: String]? = nil, expires: Date? = nil
        ) throws(VaultError) {
            let value = try SecretBytes(utf8: text)
            try set(name, to: value, kind: .text, attributes: attributes, expires: expires)
        }

        /// Sets a value to bytes.
        ///
        /// - Throws: the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
        public mutating func set(
            _ name: String, to bytes: [UInt8], attributes: [String: String]? = nil, expires: Date? = nil
        ) throws(VaultError) {
            let value = try SecretBytes(copying: bytes)
            try set(name, to: value, kind: .data, attributes: attributes, expires: expires)
        }

        /// Removes an entry. Its value becomes an earlier value, even if the value has expired.
        ///
        /// - Returns: whether the name existed. A name with an expired value does not exist.
        /// - Throws: the same errors as ``Keychain/get(_:)``.
        @discardableResult
        public mutating func remove(_ name: String) throws(VaultError) -> Bool {
            let existed = try exists(name)
            for name in try removed(name) { changes.append(Change(name, .anything, .remove, forgets: forgetsHistory)) }
            return existed
        }

        /// Returns whether a name exists after the changes of this transaction.
        ///
        /// - Throws: the same errors as ``Keychain/get(_:)``.
        public mutating func exists(_ name: String) throws(VaultError) -> Bool { try isPresent(shown(name)) }

        /// Returns the value of a name after the changes of this transaction; nil if there is none.
        ///
        /// - Throws: the same errors as ``Keychain/get(_:)``.
        public mutating func get(_ name: String) throws(VaultError) -> SecretBytes? {
            let name = try shown(name)
            if let change = changes.newest(name) {
                guard let value = change.action.presentValue else { return nil }
                return try keychain.translated(keychain.log.open(value))
            }
            guard let opened = try opened(name) else { return nil }
            return opened.takeBytes()
        }

        /// Sets a value of any kind. Throws the same errors as ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
        package mutating func put(
            _ name: String, _ value: borrowing SealableValue, attributes: [String: String]? = nil, expires: Date? = nil
        ) throws(VaultError) {
            try set(name, to: value.bytes, kind: value.kind, attributes: attributes, expires: expires)
        }

        mutating func set(
            _ name: String, to value: borrowing SecretBytes, kind: ValueKind, attributes: [String: String]?,
            expires: Date?
        ) throws(VaultError) {
            changes.append(
                try keychain.setting(
                    name, to: value, kind: kind, attributes: attributes, expires: expires, forgets: forgetsHistory,
                    nonces: &nonces))
        }

        func hasSet(_ name: EntryName) -> Bool { changes.newest(name)?.action.presentValue != nil }

        mutating func isPresent(_ name: EntryName) throws(VaultError) -> Bool {
            try changes.newest(name) == nil ? entry(name) != nil : hasSet(name)
        }

        /// Returns the attributes of an entry after the changes of this transaction; empty if the entry is absent.
        mutating func attributes(_ name: EntryName) throws(VaultError) -> [Attribute] {
            switch changes.newest(name)?.action {
            case .set(_, let attributes?, _): attributes
            case .remove: []
            default: try entry(name)?.content?.attributes ?? []
            }
        }

        // If a state returned by `entry` or `opened` changes before the commit, the transaction runs again.

        mutating func entry(_ name: EntryName) throws(VaultError) -> Entry? {
            let entry = try keychain.translated(keychain.log.entry(name))
            expect(entry?.content?.current.nonce, of: name)
            return entry
        }

        private mutating func opened(_ name: EntryName) throws(VaultError) -> OpenedValue? {
            guard let opened = try keychain.translated(keychain.log.openTagged(name.text)) else {
                expect(nil, of: name)
                return nil
            }
            expect(opened.nonce, of: name)
            return opened
        }

        private mutating func expect(_ nonce: Nonce?, of name: EntryName) {
            if changes.conditions[name] == nil { changes.conditions[name] = .some(nonce) }
        }

        package consuming func commit() throws(VaultError) -> Bool {
            if changes.isEmpty { return true }
            return try keychain.commit(changes, liftingPolicies: liftsPolicies)
        }

        /// Adds a batch's changes. Returns false, with nothing to commit, if a value differs from the expected one.
        fileprivate mutating func take(_ batch: StoreBatch) throws(VaultError) -> Bool {
            let holds = try batch.holds { (name) throws(VaultError) in
                guard let opened = try opened(shown(name)) else { return nil }
                return try StoredValue(opened, of: name)
            }
            guard holds else {
                changes.conditions = [:]
                return false
            }
            forgetsHistory = batch.forgetsHistory
            for (name, value) in batch.changes {
                guard let value else {
                    try remove(name)
                    continue
                }
                let encoded = try SealableValue(value, for: name)
                try set(name, to: encoded.bytes, kind: encoded.kind, attributes: nil, expires: nil)
            }
            return true
        }
    }
}

/// A value in plaintext: its kind, and its bytes in guarded memory.
package struct SealableValue: ~Copyable {
    package let kind: Keychain.ValueKind
    package let bytes: SecretBytes

    package init(kind: Keychain.ValueKind, bytes: consuming SecretBytes) {
        self.kind = kind
        self.bytes = bytes
    }

    package consuming func takeBytes() -> SecretBytes { bytes }

    package init(_ value: StoredValue, for name: String) throws(VaultError) {
        var encoded: (kind: StoredKind, bytes: [UInt8]) = try value.encoded(for: name)
        defer { encoded.bytes.withUnsafeMutableBytes { Wiping.wipe($0) } }
        bytes = try SecretBytes(copying: encoded.bytes)
        kind = Keychain.ValueKind(encoded.kind)
    }
}

extension Keychain {
    /// Makes several changes atomically, with one durable write.
    ///
    /// No lock is held while `body` runs. `body` may run several times, so it should only read and write through the
    /// transaction. If it throws, nothing is changed.
    ///
    /// - Throws: the errors of `body` and of ``set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``; ``VaultError`` with
    ///   `busy` if other processes or threads keep changing the entries that `body` reads.
    @_disfavoredOverload
    public func transaction<Result>(_ body: (inout Transaction) throws -> Result) throws -> Result {
        try Transaction.run({ Transaction(on: self) }, patience: options.lockTimeout, rethrowing: { $0 }, body)
    }
}

extension Keychain {
    /// Makes several changes atomically, for a closure that is declared to throw only ``VaultError``, as in
    /// `{ (transaction) throws(VaultError) in … }`.
    public func transaction<Result>(
        _ body: (inout Transaction) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try Transaction.run({ Transaction(on: self) }, patience: options.lockTimeout, rethrowing: { $0 }, body)
    }

    public func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        // If another process commits first, the transaction runs again, and checks the batch's expected values again.
        try transaction { (transaction) throws(VaultError) in try transaction.take(batch) }
    }
}
