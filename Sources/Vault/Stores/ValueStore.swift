/// A place where values are kept under names: all that a store has to do to work with ``Storable``, its siblings,
/// transactions and observation.
///
/// ``Keychain``, ``Preferences`` and ``MemoryStore`` are stores. One of your own needs three methods and two constants; `VaultTesting`
/// has a conformance suite for it. If it shows what a crash may take back, it needs ``makeDurable()`` too.
///
/// Keys are 1 to 1,024 bytes of UTF-8 without control characters. No two should differ in nothing but the spelling of an accented
/// letter: to Swift's dictionaries they are one. Stores may be used from any thread. A store calls no code that is not its own while it holds a lock.
public protocol ValueStore: Sendable {
    /// The value of a key; nil if, and only if, there is none.
    ///
    /// - Throws: ``VaultError``: `locked`, `damaged`, `unavailable` and so on; never nil in their place.
    func value(of key: String) throws(VaultError) -> StoredValue?

    /// The keys that begin with `prefix`, in the order of their bytes.
    ///
    /// - Throws: as ``value(of:)``.
    func keys(prefix: String) throws(VaultError) -> [String]

    /// The values of all keys that begin with `prefix`, as they were at one moment.
    ///
    /// Without a method of the store's own, it is read key by key, until it comes out the same twice.
    ///
    /// - Throws: as ``value(of:)``; `busy` if others keep changing the store.
    func contents(prefix: String) throws(VaultError) -> [String: StoredValue]

    /// Makes all the changes of a batch or none, if all that it expects still holds.
    ///
    /// The store sends ``ChangeFeed/notify()`` after a commit that changed something.
    ///
    /// - Returns: false, and nothing is changed, if a key no longer has the value that the batch expects.
    /// - Throws: as ``value(of:)``, and `invalid` for what the store cannot hold; nothing is changed then.
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool

    /// Makes what the store shows last: it is on the disk when this returns, whoever wrote it.
    ///
    /// A store may show more than that. A process that was killed leaves a write behind that everyone sees and that power loss takes back;
    /// so does a write whose outcome is unknown, and one that is held back. This is called before the only other copy of a value is
    /// removed. A store that shows nothing else than what lasts, or where nothing lasts, does nothing.
    ///
    /// - Throws: as ``commit(_:)``; nobody can tell then what lasts.
    func makeDurable() throws(VaultError)

    /// Lets go of what was removed or replaced, as far as the store still holds it. A store that holds nothing of it does nothing.
    ///
    /// - Throws: as ``commit(_:)``.
    func eraseRemoved() throws(VaultError)

    /// Tells observers that something may have changed.
    var changes: ChangeFeed { get }

    /// Where errors go that a property's setter or getter cannot throw.
    var failures: FailureLog { get }

    /// The same for two values that are the same store. Classes have one.
    var identity: StoreIdentity { get }
}

extension ValueStore {
    /// Does nothing.
    public func makeDurable() throws(VaultError) {}

    /// Does nothing.
    public func eraseRemoved() throws(VaultError) {}

    /// The error that ``StoredKeyed/value`` met last on this store; nil if there was none.
    public var lastError: VaultError? { failures.lastError }
}

/// Tells one store from another.
public struct StoreIdentity: Hashable, Sendable {
    private enum Base: Hashable, Sendable {
        case object(ObjectIdentifier)
        case file(String)
    }

    private let base: Base
    private let scope: String

    /// - Parameters:
    ///   - object: what the store is on.
    ///   - scope: which part of it the store is.
    public init(_ object: AnyObject, scope: String = "") {
        self.init(.object(ObjectIdentifier(object)), scope)
    }

    /// Stores on one file are one store.
    ///
    /// - Parameter path: without symbolic links.
    init(file path: String) {
        self.init(.file(path), "")
    }

    private init(_ base: Base, _ scope: String) {
        self.base = base
        self.scope = scope
    }

    func scoped(to scope: String) -> StoreIdentity {
        StoreIdentity(base, self.scope + scope)
    }
}

extension ValueStore where Self: AnyObject {
    public var identity: StoreIdentity { StoreIdentity(self) }
}
