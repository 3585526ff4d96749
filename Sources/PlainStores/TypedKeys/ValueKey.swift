import LinuxSystem

/// A name in a store, together with the type of its value. The library's keys are ``Storable``, ``KeychainStorable``,
/// ``RAMStorable``, and a ``DefaultedKey`` of one of these.
public protocol ValueKey<Value, Reading>: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type of the value.
    associatedtype Value: StoredObject
    /// The result of reading the key: `Value?`, or `Value` for a key with a default.
    associatedtype Reading = Value?

    /// The key's name in its store.
    var name: String { get }
    /// A reference to the key's store. Each use looks up the store.
    var store: StoreReference { get }

    /// Returns the result of reading this key if its stored value is `value`, where nil means that it has no value.
    func reading(_ value: Value?) -> Reading
    /// Returns the value to store when a caller sets the key to `reading`. Nil removes the stored value.
    static func value(of reading: Reading) -> Value?
}

extension ValueKey where Reading == Value? {
    /// Returns the value unchanged.
    public func reading(_ value: Value?) -> Value? { value }
    /// Returns `reading` unchanged, since it is already the value to store.
    public static func value(of reading: Value?) -> Value? { reading }
}

extension ValueKey {
    /// The names of the type and the key, without any value or default: `KeychainStorable("u.token")`.
    public var description: String { described(Self.self, name) }
    /// The same text as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` does not show the key's default.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ValueKey {
    /// Returns the value. If there is none, returns the key's default, or nil if it has no default.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `busy` or `unavailable` if the store cannot be read; `wrongType`
    ///   or `unreadable` if the value is not of this type.
    public func read() throws(VaultError) -> Reading { try reading(converted(storedValue())) }

    /// Sets the value. The store contains the value when this method returns.
    ///
    /// - Throws: ``VaultError``, as ``read()-8f9bj`` does; `invalid` for a value that its type refuses or the store
    ///   cannot hold. The former value remains, unless the error is `outcomeUnknown`.
    public func write(_ value: Value) throws(VaultError) { try set(value) }

    /// Removes the value, if there is one.
    ///
    /// - Throws: ``VaultError``, as ``write(_:)-5u2oi`` does.
    public func remove() throws(VaultError) { try set(nil) }

    /// Returns whether the key has a value, of any type. A default does not count.
    ///
    /// - Throws: ``VaultError``, as ``read()-8f9bj`` does.
    public func exists() throws(VaultError) -> Bool { try storedValue() != nil }

    /// Changes the value atomically, so that no write of another thread or process is lost. (For preferences that
    /// coalesce writes, see ``Preferences/init(suite:coalescing:failures:)``.)
    ///
    /// `body` receives the result of ``read()-8f9bj``, which is nil if there is neither a value nor a default. Setting
    /// it to nil removes the value. `body` may run more than once, so changing this result should be its only effect.
    /// It must not change this key in any other way. No lock is held while it runs. If it throws, nothing is changed.
    ///
    /// If the closure throws other errors, declare it as `{ value throws(any Error) in … }`.
    ///
    /// - Throws: ``VaultError``, as ``write(_:)-5u2oi`` does, and the errors of `body`.
    @discardableResult
    public func update<Result>(_ body: (inout Reading) throws(VaultError) -> Result) throws(VaultError) -> Result {
        try resolved().atomically { (transaction) throws(VaultError) in
            var reading = try transaction.read(self)
            let result = try body(&reading)
            try transaction.put(Self.value(of: reading), for: self)
            return result
        }
    }

    private func set(_ value: Value?) throws(VaultError) {
        let stored = try value?.storedValue(for: name)
        _ = try resolved(for: value == nil ? .removing : .writing).commitChecked(StoreBatch([name: stored]))
    }
}

extension ValueKey {
    /// Changes the value atomically. The closure may throw any error.
    @_disfavoredOverload
    @discardableResult
    public func update<Result>(_ body: (inout Reading) throws -> Result) throws -> Result {
        try resolved().atomically { (transaction) throws(any Error) in
            var reading = try transaction.read(self)
            let result = try body(&reading)
            try transaction.put(Self.value(of: reading), for: self)
            return result
        }
    }
}

extension ValueKey {
    /// Checks the key's name and returns the key's store. If `use` is not nil, first moves the value to that store.
    package func resolved(for use: KeyUse? = nil) throws(VaultError) -> any ValueStore {
        try Naming.key.check(name)
        let store = try store.resolve()
        if let use { try finishMove(into: store, for: use) }
        return store
    }

    func storedValue() throws(VaultError) -> StoredValue? { try resolved(for: .reading).value(of: name) }

    func converted(_ stored: StoredValue?) throws(VaultError) -> Value? {
        guard let stored else { return nil }
        do throws(VaultError) { return try Value(stored: stored, of: name) } catch {
            guard let present = store.history.conversion?(stored) else { throw error }
            return try Value(stored: present, of: name)
        }
    }
}

/// The access to a key whose value moves to a new store. It determines whether a failure of the old store is ignored.
package enum KeyUse {
    /// A read ignores a failure of the old store if the new store has a value, which takes precedence.
    case reading
    /// A write ignores a failure of the old store, since the written value then takes precedence.
    case writing
    /// A removal fails if the old store fails, since a value that remains there would later reappear in the new store.
    case removing
}

extension ValueKey {
    /// The value or the default. Setting it to nil removes the value.
    ///
    /// A failure is reported to the store's ``ValueStore/failures``, and reading then returns the default or nil.
    /// ``read()-8f9bj`` distinguishes a failure from a missing value.
    public var value: Reading {
        get { reporting(read) ?? reading(nil) }
        // Unlike `write`, this setter is mutating, so it cannot be used on a key that belongs to a constant struct.
        mutating set { setReporting(newValue) }
    }

    package func setReporting(_ value: Reading) {
        _ = reporting { () throws(VaultError) in try set(Self.value(of: value)) }
    }

    private func reporting<Result>(_ body: () throws(VaultError) -> Result) -> Result? {
        do { return try body() } catch {
            let failures = (try? store.resolve())?.failures ?? store.failures
            failures.report(error, key: name)
            return nil
        }
    }
}

// A moved value is durable in the new store before it is removed from the old one. A crash during the move leaves it in
// the old store or in both. The new store's value takes precedence, and the next use finishes the move.

extension ValueKey {
    /// Moves the value if the key was created with a former store or a former name.
    package func finishMove(into store: any ValueStore, for use: KeyUse) throws(VaultError) {
        if self.store.history.isMoved { try move(into: store, for: use) }
    }

    /// Moves the value from the old store to the new one. If the new store has a value, only removes the old value.
    ///
    /// An old value that is not readable as this key's type stays in the old store. The method then throws, unless the
    /// new store has a value or the caller is about to write one.
    private func move(into new: any ValueStore, for use: KeyUse) throws(VaultError) {
        let (old, oldName): (any ValueStore, String)
        do throws(VaultError) {
            (old, oldName) = (try store.history.oldStore?() ?? new, store.history.oldName ?? name)
            // If both names refer to the same entry, the move would remove the entry's value as an outdated copy.
            guard !new.identity.shows(old.identity, oldName, as: name) else { return }
            guard try old.value(of: oldName) != nil else { return }
        } catch { return try passOver(error, for: use, with: new) }
        let turn = try MoveTurn(of: name, into: new.identity)
        defer { turn.end() }
        // Reads the value again, since another thread may have moved it in the meantime.
        var next = try old.value(of: oldName)
        while let value = next {
            guard try isReadable(value, for: use, unlessIn: new) else { return }
            if let taken = try take(value, into: new), try old.value(of: oldName) == nil {
                // Another process has finished the move, and the moved value was then removed, so it is removed again.
                // (If the old value still exists, the new one stays, since another process may be finishing the move.)
                _ = try new.commit(StoreBatch([name: nil], expecting: [name: taken]))
                return
            }
            // Flushes even a value that the new store already had, since its writer may have died before flushing.
            try new.makeDurable()
            // This commit fails if an older version of the program has since changed the value in the old store.
            if try old.commit(StoreBatch([oldName: nil], expecting: [oldName: value])) { return }
            next = try old.value(of: oldName)
        }
    }

    /// Throws the old store's `error`, or only reports it, but not twice in a row, if `use` permits ignoring it.
    private func passOver(_ error: VaultError, for use: KeyUse, with new: any ValueStore) throws(VaultError) {
        switch use {
        case .reading: guard try new.value(of: name) != nil else { throw error }
        case .writing: break
        case .removing: throw error
        }
        if new.failures.lastError != error { new.failures.report(error, key: name) }
    }

    private func isReadable(
        _ value: StoredValue, for use: KeyUse, unlessIn new: any ValueStore
    ) throws(VaultError) -> Bool {
        do { _ = try converted(value) } catch {
            guard use != .writing, try new.value(of: name) == nil else { return false }
            throw error
        }
        return true
    }

    /// Stores the old value if the new store has none, and returns the stored value. Returns nil if the new store
    /// already has a value, which is newer.
    ///
    /// The value is stored unchanged, since converting it to the key's type and back could lose fields that another
    /// version of the type has. There are two exceptions. Untyped bytes get the type that the key expects, and a value
    /// that the new store refuses is converted to the type's current form.
    private func take(_ value: StoredValue, into new: any ValueStore) throws(VaultError) -> StoredValue? {
        func stored(_ value: StoredValue) throws(VaultError) -> StoredValue? {
            try new.commit(StoreBatch([name: value], expecting: [name: nil])) ? value : nil
        }
        func storedAsToday() throws(VaultError) -> StoredValue? {
            guard let present = try converted(value)?.storedValue(for: name) else { return nil }
            return try stored(present)
        }
        if case .untyped = value { return try storedAsToday() }
        do { return try stored(value) } catch {
            guard error.code == .invalid, try converted(value)?.storedValue(for: name) != value else { throw error }
            return try storedAsToday()
        }
    }
}

/// A lock for moving a value. Without it, two threads could each mistake a value that the other stored for its own.
private struct MoveTurn: Hashable {
    private static let all = Mutex<Set<MoveTurn>>([])

    private let store: StoreIdentity
    private let name: String

    /// Waits for the lock. Throws ``VaultError/Code/busy`` after ten seconds.
    init(of name: String, into store: StoreIdentity) throws(VaultError) {
        self.store = store
        self.name = name
        var contention = Contention()
        while !MoveTurn.all.withLock({ [self] in $0.insert(self).inserted }) { try contention.pause() }
    }

    func end() { MoveTurn.all.withLock { _ = $0.remove(self) } }
}
