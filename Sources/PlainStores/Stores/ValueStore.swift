/// Keeps values under names. ``Storable`` and its siblings, transactions and observation need only these methods.
///
/// A store of your own, beside ``Keychain``, ``Preferences`` and ``MemoryStore``, needs three methods and two
/// constants; `VaultTesting` has a conformance suite for it. If it can return values that a crash may undo, it needs
/// ``makeDurable()`` too. Typed keys and ``DataStore`` check a key before the store gets it.
///
/// Stores may be used from any thread. A store calls no outside code while it holds a lock. For keys see <doc:Gotchas>.
public protocol ValueStore: Sendable {
    /// Returns the value of a key; nil if, and only if, there is none.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `unavailable` and so on; never returns nil instead.
    func value(of key: String) throws(VaultError) -> StoredValue?

    /// Returns the keys that begin with `prefix`, sorted bytewise.
    ///
    /// - Throws: as ``value(of:)``.
    func keys(prefix: String) throws(VaultError) -> [String]

    /// Returns the values of all keys that begin with `prefix`, as of one point in time.
    ///
    /// The default implementation reads key by key, until two readings in a row are equal.
    ///
    /// - Throws: as ``value(of:)``; `busy` if others keep changing the store.
    func contents(prefix: String) throws(VaultError) -> [String: StoredValue]

    /// Makes all the changes of a batch, or none of them if an expectation does not hold. No other thread sees only a
    /// part of them, or changes a value between its comparison and the changes.
    ///
    /// The store calls ``ChangeFeed/notify()`` after a commit that changed something.
    ///
    /// - Returns: false, with nothing changed, if a key no longer has the value that the batch expects.
    /// - Throws: as ``value(of:)``, and `invalid` for what the store cannot hold; nothing is changed then.
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool

    /// Makes everything that the store shows durable, whichever process wrote it. This is called before the only other
    /// copy of a value is removed. A store that shows only what is durable, or keeps nothing durably, does nothing.
    ///
    /// - Throws: as ``commit(_:)``; what is durable is unknown then.
    func makeDurable() throws(VaultError)

    /// Erases removed and replaced values that the store still contains, except those of its history. A store without
    /// any does nothing.
    ///
    /// - Throws: as ``commit(_:)``.
    func eraseRemoved() throws(VaultError)

    /// Waits for the exclusive lock of a name, which says nothing about values: a key of that name stays usable.
    ///
    /// ``Keychain`` excludes all processes that have the same vault, and a process that dies loses its locks at once.
    /// The default implementation excludes the tasks of this process. No thread is blocked. There is no time limit:
    /// cancel the task to give up. A lock on a server can be lost, which ``NameLock/check()`` detects.
    ///
    /// - Throws: ``VaultError`` with `busy` if the task is cancelled, `unavailable` if the system refuses.
    func acquireLock(_ name: String) async throws(VaultError) -> NameLock

    /// Notifies observers that something may have changed.
    var changes: ChangeFeed { get }
    /// Receives the errors that a property's setter or getter cannot throw.
    var failures: FailureLog { get }
    /// Is equal for two values that are the same store. Classes have one by default.
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
    /// - Throws: as ``keys(prefix:)``.
    public func keys() throws(VaultError) -> [String] { try keys(prefix: "") }

    public func makeDurable() throws(VaultError) {}
    public func eraseRemoved() throws(VaultError) {}

    /// Removes all keys that begin with `prefix`, with one commit: all of them or none.
    ///
    /// For a scope these are its own keys. For preferences they include the keys of other programs in the suite's file.
    /// A key that another thread or process adds meanwhile may stay.
    ///
    /// - Returns: how many keys there were.
    /// - Throws: as ``commit(_:)``.
    @discardableResult
    public func removeAll(prefix: String = "") throws(VaultError) -> Int {
        let keys = try keys(prefix: prefix)
        guard !keys.isEmpty else { return 0 }
        var batch = StoreBatch([:])
        for key in keys { batch.changes.updateValue(nil, forKey: key) }
        _ = try commitChecked(batch)
        return keys.count
    }

    /// The last error that ``ValueKey/value`` met on this store; nil if there was none.
    public var lastError: VaultError? { failures.lastError }
}

extension ValueStore where Self: AnyObject { public var identity: StoreIdentity { StoreIdentity(self) } }

extension Sequence<String> {
    /// The order is the same in every language and region.
    package func sortedByBytes() -> [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}

/// A type that shows only its description. Its default mirror or debug description would show values.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Returns a type's name without its generic parameters, and a text that distinguishes its values. Stores and keys
/// print nothing else, and no stored value.
package func described(_ type: Any.Type, _ text: String) -> String {
    "\(String(describing: type).prefix { $0 != "<" })(\(text.debugDescription))"
}
