import SealedLog
public import Sealing

/// Changes to several names that are made all together or not at all.
///
/// Reading within a transaction sees what the transaction has done so far. If another process or thread changes a name
/// that the transaction has read, present or absent, the transaction runs again.
public struct Transaction: ~Copyable, OptimisticTransaction {
    let keychain: Keychain
    private var changes: [Change] = []
    /// The index in `changes` of a name's last one.
    private var latest: [EntryName: Int] = [:]
    /// What names were when they were first read: the nonce of the value, nil for none.
    private var expected: [EntryName: Nonce?] = [:]
    private var nonces = NonceSource(expected: 8)

    fileprivate init(on keychain: Keychain) { self.keychain = keychain }

    /// Sets a value.
    ///
    /// - Parameter attributes: replace those of the name; nil keeps them.
    /// - Throws: ``VaultError`` with `invalid` for a name, value or attributes out of bounds; `unavailable`.
    public mutating func set(
        _ name: String, to value: borrowing SecretBytes, attributes: [String: String]? = nil
    ) throws(VaultError) {
        try set(name, to: value, kind: .unspecified, attributes: attributes)
    }

    /// Sets a text.
    ///
    /// - Throws: as ``set(_:to:attributes:)-(_,SecretBytes,_)``.
    public mutating func set(_ name: String, to text: String, attributes: [String: String]? = nil) throws(VaultError) {
        try set(name, to: keychain.guarded(SecretBytes(utf8: text)), kind: .text, attributes: attributes)
    }

    /// Sets bytes.
    ///
    /// - Throws: as ``set(_:to:attributes:)-(_,SecretBytes,_)``.
    public mutating func set(
        _ name: String, to bytes: [UInt8], attributes: [String: String]? = nil
    ) throws(VaultError) {
        try set(name, to: keychain.guarded(SecretBytes(copying: bytes)), kind: .data, attributes: attributes)
    }

    /// Removes a name.
    ///
    /// - Returns: whether it existed.
    /// - Throws: as ``Keychain/get(_:)``.
    @discardableResult
    public mutating func remove(_ name: String) throws(VaultError) -> Bool {
        let present = try removed(name)
        for name in present { add(Change(name, .anything, .remove)) }
        return !present.isEmpty
    }

    /// Returns whether a name exists after the changes of this transaction.
    ///
    /// - Throws: as ``Keychain/get(_:)``.
    public mutating func exists(_ name: String) throws(VaultError) -> Bool {
        try isPresent(shown(name))
    }

    /// Returns the value of a name after the changes of this transaction; nil if there is none.
    ///
    /// - Throws: as ``Keychain/get(_:)``.
    public mutating func get(_ name: String) throws(VaultError) -> SecretBytes? {
        let name = try shown(name)
        if let index = latest[name] {
            guard case .set(let value, _) = changes[index].action else { return nil }
            return try keychain.translated(keychain.log.open(value))
        }
        guard let opened = try opened(name) else { return nil }
        return opened.takeBytes()
    }

    // MARK: For the keychain

    mutating func set(
        _ name: String, to value: borrowing SecretBytes, kind: ValueKind, attributes: [String: String]?
    ) throws(VaultError) {
        add(try keychain.setting(name, to: value, kind: kind, attributes: attributes, nonces: &nonces))
    }

    func hasSet(_ name: EntryName) -> Bool {
        guard let index = latest[name], case .set = changes[index].action else { return false }
        return true
    }

    mutating func isPresent(_ name: EntryName) throws(VaultError) -> Bool {
        try latest[name] == nil ? entry(name) != nil : hasSet(name)
    }

    // The transaction expects what these two return to stay so.

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
        if expected[name] == nil { expected[name] = .some(nonce) }
    }

    private mutating func add(_ change: Change) {
        latest[change.name] = changes.count
        changes.append(change)
    }

    consuming func commit() throws(VaultError) -> Bool {
        let (keychain, changes) = (keychain, expected.map { Change($0.key, .unchanged($0.value), .rely) } + changes)
        guard !changes.isEmpty else { return true }
        let isCommitted = try keychain.waiting { (timeout) throws(LogError) in
            do throws(LogError) { try keychain.log.commit(changes, timeout: timeout) } catch {
                guard error.code == .conflict else { throw error }
                return false
            }
            return true
        }
        if isCommitted { keychain.changes.notify() }
        return isCommitted
    }

    // MARK: Typed values

    /// Takes up a batch's changes; false, with nothing to commit, if a name does not have the value that it expects.
    fileprivate mutating func take(_ batch: StoreBatch) throws(VaultError) -> Bool {
        let holds = try batch.holds { (name) throws(VaultError) in
            guard let opened = try opened(shown(name)) else { return nil }
            return try StoredValue(opened, of: name)
        }
        guard holds else {
            expected = [:]
            return false
        }
        for (name, value) in batch.changes {
            guard let value else {
                try remove(name)
                continue
            }
            var encoded: (kind: ValueKind, bytes: [UInt8]) = try value.encoded(for: name)
            defer { encoded.bytes.withUnsafeMutableBytes { Wiping.wipe($0) } }
            let bytes = try keychain.guarded(SecretBytes(copying: encoded.bytes))
            try set(name, to: bytes, kind: encoded.kind, attributes: nil)
        }
        return true
    }
}

extension Keychain {
    /// Makes several changes all together or not at all, with one durable write.
    ///
    /// No lock is held while `body` runs. It may run more than once, so it should do nothing but read and write through
    /// the transaction; if it throws, nothing is changed.
    ///
    /// - Throws: what `body` throws; ``VaultError`` as ``set(_:to:attributes:)-(_,SecretBytes,_)``, and `busy` if
    ///   others keep changing what it has read.
    public func transaction<Result>(_ body: (inout Transaction) throws -> Result) throws -> Result {
        try Transaction.run({ Transaction(on: self) }, patience: options.lockTimeout, rethrowing: { $0 }, body)
    }
}

extension Keychain {
    /// Does the same for a closure that is declared to throw only ``VaultError``, as in
    /// `{ (transaction) throws(VaultError) in … }`.
    public func transaction<Result>(
        _ body: (inout Transaction) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try Transaction.run({ Transaction(on: self) }, patience: options.lockTimeout, rethrowing: { $0 }, body)
    }

    public func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        // If another process is faster, the batch's expectations are checked again.
        try transaction { (transaction) throws(VaultError) in try transaction.take(batch) }
    }
}
