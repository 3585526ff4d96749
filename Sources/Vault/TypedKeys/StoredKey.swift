/// A name in a store, with the type of its value: what ``Storable`` and its siblings consist of.
public struct StoredKey<Value: StoredObject> {
    /// The key's name in the store.
    public let name: String
    /// What reading returns if there is no value.
    public let defaultValue: Value?
    let home: StoreReference
    let oldHome: StoreReference?

    /// Creates a key.
    ///
    /// - Parameter oldHome: the store that kept the value before; the first use moves it.
    public init(
        _ name: String, default defaultValue: Value? = nil, in home: StoreReference,
        movedFrom oldHome: StoreReference? = nil
    ) {
        self.name = name
        self.defaultValue = defaultValue
        self.home = home
        self.oldHome = oldHome
    }
}

/// A type that reads and writes the value of one key: ``Storable``, ``KeychainStorable``, ``RAMStorable``.
public protocol StoredKeyed<Value> {
    /// The type of the value.
    associatedtype Value: StoredObject

    /// The key: its name, type and store.
    var stored: StoredKey<Value> { get }
}

extension StoredKey: StoredKeyed {
    public var stored: StoredKey<Value> { self }
}

extension StoredKey: Sendable where Value: Sendable {}

// MARK: - Calls that throw

extension StoredKeyed {
    /// Returns the value, or the key's default if there is none; nil if there is neither.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `busy` and `unavailable` if the store cannot be read; `wrongType`
    ///   and `unreadable` if the value is not of this type.
    public func read() throws(VaultError) -> Value? {
        try stored.converted(stored.storedValue())
    }

    /// Sets the value; the store has it when this returns.
    ///
    /// - Throws: ``VaultError`` as ``read()``; `invalid` for a value that refuses or that the store cannot hold. The
    ///   former value is kept, unless the error is `outcomeUnknown`.
    public func write(_ value: Value) throws(VaultError) { try set(value.storedValue(for: stored.name)) }

    /// Removes the value, if there is one.
    ///
    /// - Throws: as ``write(_:)``.
    public func remove() throws(VaultError) { try set(nil) }

    /// Returns whether there is a value, of whatever type. A default does not count.
    ///
    /// - Throws: ``VaultError`` as ``read()``.
    public func exists() throws(VaultError) -> Bool { try stored.storedValue() != nil }

    /// Changes the value atomically: what another thread or process writes meanwhile is not lost. (For preferences that
    /// coalesce writes see ``Preferences/Writing/coalesced(every:)``.)
    ///
    /// `body` gets the value, or the key's default. It may run more than once, so it should only change the value. No
    /// lock is held while it runs. If it throws, nothing is changed.
    ///
    /// - Throws: what `body` throws; ``VaultError`` as ``write(_:)``, and `absent` if there is neither a value nor a
    ///   default.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        try updateOptional { (value: inout Value?) in
            guard var present = value else {
                throw VaultError(.absent, "There is no value for \"\(stored.name)\" to update, and no default.")
            }
            let result = try body(&present)
            value = present
            return result
        }
    }

    /// Changes a value that may be absent, as ``update(_:)`` does: `body` gets nil if there is neither a value nor a
    /// default, and setting nil removes the value.
    ///
    /// - Throws: what `body` throws; ``VaultError`` as ``write(_:)``.
    @discardableResult
    public func updateOptional<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
        try stored.store().atomically { transaction in
            var value = try transaction.read(stored)
            let result = try body(&value)
            try transaction.put(value, for: stored)
            return result
        }
    }

    private func set(_ value: StoredValue?) throws(VaultError) {
        _ = try stored.store(for: value == nil ? .removing : .writing).commit(StoreBatch([stored.name: value]))
    }
}

extension StoredKey {
    /// Returns the key's store, and checks the name that is about to be used in it. For a use, the old store's value is
    /// moved first.
    func store(for use: KeyUse? = nil) throws(VaultError) -> any ValueStore {
        try Keychain.checkName(name)
        let store = try home.resolve()
        if let use { try finishMove(into: store, for: use) }
        return store
    }

    /// Moves here what the old store still has, if the key has an old store.
    func finishMove(into store: any ValueStore, for use: KeyUse) throws(VaultError) {
        if let oldHome { try move(from: oldHome, into: store, for: use) }
    }

    func storedValue() throws(VaultError) -> StoredValue? { try store(for: .reading).value(of: name) }

    /// Returns what reading returns if the store has `stored`.
    func converted(_ stored: StoredValue?) throws(VaultError) -> Value? {
        guard let stored else { return defaultValue }
        return try Value(stored: stored, of: name)
    }
}

/// What a key is used for: it decides whether an old store that fails prevents the use.
enum KeyUse {
    /// It does not if the new store has a value, which then counts.
    case reading
    /// It does not: what is written counts from then on.
    case writing
    /// It does: what is removed from the new store alone would return once the old one can be read.
    case removing
}

// MARK: - Access that cannot throw

extension StoredKeyed {
    /// The value, or the default; setting nil removes it.
    ///
    /// A failure is reported to the store's ``ValueStore/failures``, and reading returns nil. To tell it from "no
    /// value", use ``read()``.
    public var value: Value? {
        get { reporting(read) ?? nil }
        // Only this is mutating, so that a group of keys in a `let` cannot be written through.
        mutating set { setReporting(newValue) }
    }

    func setReporting(_ value: Value?) {
        _ = reporting { () throws(VaultError) in try set(value?.storedValue(for: stored.name)) }
    }

    private func reporting<Result>(_ body: () throws(VaultError) -> Result) -> Result? {
        do { return try body() } catch {
            let failures = (try? stored.home.resolve())?.failures ?? stored.home.failures
            failures.report(error, key: stored.name)
            return nil
        }
    }
}

// MARK: - Transactions

extension StoreTransaction {
    /// Returns the value of a key as this transaction has left it, or the key's default; nil if there is neither.
    ///
    /// - Throws: ``VaultError`` as ``StoredKeyed/read()``; `invalid` for a key of another store.
    public mutating func read<Key: StoredKeyed>(_ key: Key) throws(VaultError) -> Key.Value? {
        let key = try settled(key, for: .reading)
        return try key.converted(value(of: key.name))
    }

    /// Sets the value of a key.
    ///
    /// - Throws: ``VaultError`` with `invalid` for a value that refuses to be stored or a key of another store.
    public mutating func write<Key: StoredKeyed>(_ value: Key.Value, to key: Key) throws(VaultError) {
        try put(value, for: key)
    }

    /// Removes the value of a key, if it has one.
    ///
    /// - Throws: ``VaultError`` with `invalid` for a key of another store.
    public mutating func remove(_ key: some StoredKeyed) throws(VaultError) { try put(nil, for: key) }

    fileprivate mutating func put<Key: StoredKeyed>(_ value: Key.Value?, for key: Key) throws(VaultError) {
        let key = try settled(key, for: value == nil ? .removing : .writing)
        set(key.name, to: try value?.storedValue(for: key.name))
    }

    /// Checks that a key belongs to the transaction's store: a secret must not end up in the preferences by mistake. A
    /// value in the key's old store moves first.
    private func settled<Key: StoredKeyed>(_ keyed: Key, for use: KeyUse) throws(VaultError) -> StoredKey<Key.Value> {
        let key = keyed.stored
        let home = try key.store()
        guard home.identity == store.identity else {
            throw VaultError(.invalid, "The key \"\(key.name)\" belongs to another store than the transaction's.")
        }
        try key.finishMove(into: home, for: use)
        return key
    }
}

// MARK: - Redaction

extension StoredKeyed {
    /// The type's name and the key's, never a value or default: `KeychainStorable("u.token")`.
    public var description: String { described(Self.self, stored.name) }
    /// The description.
    public var debugDescription: String { description }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension StoredKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}
