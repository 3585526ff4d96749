/// A key-value store. Typed keys such as ``Storable``, transactions and observation build on these methods.
///
/// The library's stores are ``Keychain``, ``Preferences`` and ``MemoryStore``. Your own store must implement three
/// methods and two properties; `VaultTesting` has a conformance suite. A store that can lose returned values in a crash
/// also needs ``makeDurable()``. Typed keys and ``DataStore`` check keys first (see <doc:Gotchas>).
///
/// Any thread may use a store. A store must not call outside code while holding a lock.
public protocol ValueStore: Sendable {
    /// Returns the value of a key; nil if, and only if, the key has no value.
    ///
    /// - Throws: ``VaultError``, such as `locked`, `damaged` or `unavailable`. A failed read never returns nil.
    func value(of key: String) throws(VaultError) -> StoredValue?

    /// Returns the keys that begin with `prefix`, sorted bytewise.
    ///
    /// - Throws: the same errors as ``value(of:)``.
    func keys(prefix: String) throws(VaultError) -> [String]

    /// Returns the values of all keys that begin with `prefix`, as of one point in time.
    ///
    /// The default implementation reads the keys one by one, until two results in a row are equal.
    ///
    /// - Throws: the same errors as ``value(of:)``; `busy` if other threads or processes keep changing the store.
    func contents(prefix: String) throws(VaultError) -> [String: StoredValue]

    /// Makes all changes in a batch atomically, or none of them if an expectation does not hold. No other thread can
    /// see only some of the changes, or change a value between the check of the expectations and the changes.
    ///
    /// The store calls ``ChangeFeed/notify()`` after a commit that changed something.
    ///
    /// - Returns: false, with nothing changed, if a key no longer has the value that the batch expects.
    /// - Throws: the errors of ``value(of:)``; `invalid`, with nothing changed, for a value that the store cannot hold.
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool

    /// Makes durable all values that the store returns, whichever process wrote them. Callers use this before they
    /// remove the only other copy of a value. If values are always durable or never durable, this does nothing.
    ///
    /// - Throws: the same errors as ``commit(_:)``. After an error, it is unknown which values are durable.
    func makeDurable() throws(VaultError)

    /// Erases removed and replaced values from the store's data, except the values in its history. A store that retains
    /// no removed or replaced values does nothing.
    ///
    /// - Throws: the same errors as ``commit(_:)``.
    func eraseRemoved() throws(VaultError)

    /// Waits for the exclusive lock on a name. The lock does not affect a key of the same name.
    ///
    /// The lock of a ``Keychain`` excludes all processes that use the same vault. A process that dies loses its locks
    /// immediately. The default implementation excludes only tasks of this process. Waiting blocks no thread and has no
    /// time limit; cancel the task to give up. A lock on a server can be lost, which ``NameLock/check()`` detects.
    ///
    /// - Throws: ``VaultError`` with `busy` if the task is cancelled, or `unavailable` if the system refuses the lock.
    func acquireLock(_ name: String) async throws(VaultError) -> NameLock

    /// The feed that notifies observers of possible changes.
    var changes: ChangeFeed { get }
    /// The log of the errors that a property's setter or getter cannot throw.
    var failures: FailureLog { get }
    /// The store's identity, equal for objects that represent the same store. Classes have a default implementation.
    var identity: StoreIdentity { get }
}

extension ValueStore {
    public func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        var contention = Contention()
        var former: [String: StoredValue]?
        while true {
            var contents: [String: StoredValue] = [:]
            for key in try keys(prefix: prefix) { contents[key] = try value(of: key) }
            if contents == former { return contents }
            if former != nil { try contention.pause() }
            former = contents
        }
    }

    /// Returns all keys, sorted bytewise.
    ///
    /// - Throws: the same errors as ``keys(prefix:)``.
    public func keys() throws(VaultError) -> [String] { try keys(prefix: "") }

    public func makeDurable() throws(VaultError) {}
    public func eraseRemoved() throws(VaultError) {}

    /// Removes all keys that begin with `prefix` in one atomic commit.
    ///
    /// In a scope, only the scope's own keys are removed. In preferences, the keys of other programs in the suite's
    /// file are removed too. A key that another thread or process adds in the meantime may remain.
    ///
    /// - Returns: the number of removed keys.
    /// - Throws: the same errors as ``commit(_:)``.
    @discardableResult
    public func removeAll(prefix: String = "") throws(VaultError) -> Int {
        let keys = try keys(prefix: prefix)
        guard !keys.isEmpty else { return 0 }
        var batch = StoreBatch([:])
        for key in keys { batch.changes.updateValue(nil, forKey: key) }
        _ = try commitChecked(batch)
        return keys.count
    }

    /// The last error that ``ValueKey/value`` reported for this store; nil if there was none.
    public var lastError: VaultError? { failures.lastError }
}

extension ValueStore where Self: AnyObject { public var identity: StoreIdentity { StoreIdentity(self) } }

extension Sequence<String> {
    /// Returns the strings in bytewise order, which is the same in every language and region.
    package func sortedByBytes() -> [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}

/// A type that prints only its description. The default mirror and debug description would show stored values.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Returns the description of a store or key: its type's name without generic parameters, and a string that identifies
/// it. A description contains no stored value.
package func described(_ type: Any.Type, _ text: String) -> String {
    "\(String(describing: type).prefix { $0 != "<" })(\(text.debugDescription))"
}
