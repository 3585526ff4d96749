import SealedLog
public import Sealing

/// Changes to several names that are made all together or not at all.
///
/// Reading within a transaction sees what the transaction has done so far. What it has read and not
/// found changed by anyone else is part of the bargain: if another process or thread changes one of these names
/// first, the transaction runs again.
public struct Transaction: ~Copyable {
    let keychain: Keychain
    private var changes: [Change] = []
    /// Where in `changes` a name's last one is.
    private var latest: [EntryName: Int] = [:]
    /// What names were when they were first read: the nonce of the value, nil for none.
    private var relied: [EntryName: Nonce?] = [:]
    private var nonces: NonceSource

    init(on keychain: Keychain) {
        self.keychain = keychain
        nonces = NonceSource(expected: 8)
    }

    /// Sets a value.
    ///
    /// - Parameter attributes: in place of those that the name has; nil keeps them.
    /// - Throws: ``VaultError`` with `invalid` for a name, value or attributes out of bounds; `unavailable`.
    public mutating func set(
        _ name: String, to value: borrowing SecretBytes, attributes: [String: String]? = nil
    ) throws(VaultError) {
        try set(name, to: value, kind: .unspecified, attributes: attributes)
    }

    /// Sets a text.
    ///
    /// - Throws: as ``set(_:to:attributes:)-(_,SecretBytes,_)``.
    public mutating func set(
        _ name: String, to text: String, attributes: [String: String]? = nil
    ) throws(VaultError) {
        let value = try keychain.guarded { () throws(SealingError) in try SecretBytes(utf8: text) }
        try set(name, to: value, kind: .text, attributes: attributes)
    }

    /// Sets bytes.
    ///
    /// - Throws: as ``set(_:to:attributes:)-(_,SecretBytes,_)``.
    public mutating func set(
        _ name: String, to bytes: [UInt8], attributes: [String: String]? = nil
    ) throws(VaultError) {
        let value = try keychain.guarded { () throws(SealingError) in try SecretBytes(copying: bytes) }
        try set(name, to: value, kind: .data, attributes: attributes)
    }

    /// Removes a name.
    ///
    /// - Returns: whether it was there.
    /// - Throws: as ``Keychain/get(_:)``.
    @discardableResult
    public mutating func remove(_ name: String) throws(VaultError) -> Bool {
        guard try exists(name) else { return false }
        add(Change(try keychain.checked(name), .anything, .remove))
        return true
    }

    /// Whether a name is there, as far as this transaction has come.
    ///
    /// - Throws: as ``Keychain/get(_:)``.
    public mutating func exists(_ name: String) throws(VaultError) -> Bool {
        let name = try keychain.checked(name)
        if let index = latest[name] { return changes[index].sets }
        return try read(name) != nil
    }

    /// The value of a name, as far as this transaction has come; nil if there is none.
    ///
    /// - Throws: as ``Keychain/get(_:)``.
    public mutating func get(_ name: String) throws(VaultError) -> SecretBytes? {
        let checked = try keychain.checked(name)
        let log = keychain.log
        if let index = latest[checked] {
            guard case .set(let value, _) = changes[index].action else { return nil }
            return try keychain.translated { () throws(LogError) in try log.open(value) }
        }
        // If the value changes between these two, the transaction runs again.
        guard try read(checked) != nil else { return nil }
        return try keychain.get(name)
    }

    // MARK: For the keychain

    mutating func set(
        _ name: String, to value: borrowing SecretBytes, kind: ValueKind, attributes: [String: String]?
    ) throws(VaultError) {
        add(try keychain.setting(name, to: value, kind: kind, attributes: attributes, nonces: &nonces))
    }

    /// What is written: first what was relied on, then the changes.
    consuming func finished() -> [Change] {
        relied.map { Change($0.key, .unchanged($0.value), .rely) } + changes
    }

    /// The entry of a name in the vault; the transaction relies on it from now on.
    mutating func read(_ name: EntryName) throws(VaultError) -> Entry? {
        let log = keychain.log
        let entry = try keychain.translated { () throws(LogError) in try log.entry(name) }
        rely(on: entry?.content?.current.nonce, for: name)
        return entry
    }

    /// Makes the transaction depend on what a name was when it was first read: the nonce of the value, nil for none.
    mutating func rely(on nonce: Nonce?, for name: EntryName) {
        if relied[name] == nil { relied[name] = .some(nonce) }
    }

    private mutating func add(_ change: Change) {
        latest[change.name] = changes.count
        changes.append(change)
    }
}

extension Change {
    fileprivate var sets: Bool {
        if case .set = action { true } else { false }
    }
}
