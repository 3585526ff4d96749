private import CLinux
import LinuxSystem

/// The standard stores. They are looked up at each access, so that a task-local value can replace them, as tests do.
package struct StandardStores: Sendable {
    package let keychain: Keychain
    package let preferences: Preferences
    package let memory: MemoryStore

    package init(keychain: Keychain, preferences: Preferences, memory: MemoryStore) {
        (self.keychain, self.preferences, self.memory) = (keychain, preferences, memory)
    }

    @TaskLocal package static var replaced: StandardStores?

    fileprivate static func find<Store>(
        _ replacement: (StandardStores) -> Store, else own: () throws(VaultError) -> Store
    ) throws(VaultError) -> Store {
        if let replaced { return replacement(replaced) }
        guard vault_is_under_test() == 0 else {
            throw VaultError(
                .unavailable,
                """
                A test asked for a standard store outside of its own stores. Give the test the `.temporaryStores` \
                trait. Detached tasks and threads do not inherit it: pass the stores to them.
                """)
        }
        return try own()
    }
}

extension Keychain {
    /// The process's own keychain, opened at its first use and created if there is none.
    ///
    /// Its places are those of ``VaultPlaces/standard(vault:keyFile:environment:)`` at that time. Until it can be
    /// opened, each access tries again. Within a task that has test stores it is their keychain.
    ///
    /// - Throws: ``VaultError`` as ``init(at:creating:options:failures:)``.
    public static var standard: Keychain {
        get throws(VaultError) {
            try StandardStores.find(\.keychain) { () throws(VaultError) in
                if let keychain = opened.withLock({ $0 }) { return keychain }
                // Not under the lock: waiting for another process would block every thread. Two keychains on one file
                // do no harm.
                let new = try Keychain(at: .standard(), creating: .ifAbsent, failures: standardFailures)
                opened.withLock { $0 = $0 ?? new }
                return opened.withLock { $0 } ?? new
            }
        }
    }

    /// Where errors of the standard keychain are reported, also those of opening it.
    public static let standardFailures = FailureLog()

    private static let opened = Mutex<Keychain?>(nil)
}

extension Preferences {
    /// The process's own preferences: the suite with the name of the program. Within a task that has test stores it is
    /// their preferences.
    ///
    /// - Throws: ``VaultError`` with `unavailable` only in tests, outside of their stores.
    public static var standard: Preferences {
        get throws(VaultError) { try StandardStores.find(\.preferences) { shared } }
    }

    /// Where errors of the standard preferences are reported.
    public static let standardFailures = FailureLog()

    private static let shared = Preferences(suite: programName, failures: standardFailures)

    private static var programName: String {
        let name = vault_argument(0).map { String(cString: $0).lastPathComponent } ?? ""
        return name.isEmpty ? "default" : name
    }
}

extension MemoryStore {
    /// The process's own values in memory. Within a task that has test stores it is their store.
    ///
    /// - Throws: ``VaultError`` with `unavailable` only in tests, outside of their stores.
    public static var standard: MemoryStore { get throws(VaultError) { try StandardStores.find(\.memory) { shared } } }

    /// Where errors of the standard store are reported.
    public static let standardFailures = FailureLog()

    private static let shared = MemoryStore(failures: standardFailures)
}

/// Names a store without opening it: the store is looked up at each use.
public struct StoreReference: Sendable {
    /// Where the store's errors are reported if it cannot be opened.
    let failures: FailureLog
    let resolve: @Sendable () throws(VaultError) -> any ValueStore

    /// Creates a reference to the store that a function returns at each use. What cannot throw, such as a property's
    /// getter, reports the function's errors to `failures`.
    public init(
        failures: FailureLog = FailureLog(), _ resolve: @escaping @Sendable () throws(VaultError) -> any ValueStore
    ) {
        (self.failures, self.resolve) = (failures, resolve)
    }

    /// ``Keychain/standard``.
    public static let keychain = StoreReference(
        failures: Keychain.standardFailures, { () throws(VaultError) in try Keychain.standard })
    /// ``Preferences/standard``.
    public static let preferences = StoreReference(
        failures: Preferences.standardFailures, { () throws(VaultError) in try Preferences.standard })
    /// ``MemoryStore/standard``.
    public static let memory = StoreReference(
        failures: MemoryStore.standardFailures, { () throws(VaultError) in try MemoryStore.standard })

    /// Returns a reference to a store at hand.
    public static func store(_ store: some ValueStore) -> StoreReference {
        StoreReference(failures: store.failures) { store }
    }

    /// Returns the store that is referred to now.
    ///
    /// - Throws: ``VaultError`` as ``Keychain/standard`` and its siblings.
    public func store() throws(VaultError) -> any ValueStore { try resolve() }

    /// Returns a reference to a scope of the store, as ``ValueStore/scoped(to:)`` does.
    public func scoped(to scope: String) -> StoreReference {
        StoreReference(failures: failures) { () throws(VaultError) in try resolve().scoped(to: scope) }
    }
}
