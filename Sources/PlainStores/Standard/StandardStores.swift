private import CLinux
import LinuxSystem

/// The standard stores of a test, which replace the program's. Each access finds them in a task-local value.
package struct StandardStores: Sendable {
    package let preferences: Preferences
    package let memory: MemoryStore
    let locals = StoreLocals()

    package init(preferences: Preferences, memory: MemoryStore) {
        self.preferences = preferences
        self.memory = memory
    }

    @TaskLocal package static var replaced: StandardStores?

    /// The error for test code without stores of its own, which would use the user's files; nil outside of tests.
    package static var refusal: VaultError? {
        guard vault_is_under_test() != 0 else { return nil }
        return VaultError(
            .unavailable,
            """
            A test asked for a standard store outside of its own stores. Give the test the `.temporaryStores` trait. \
            Detached tasks and threads do not inherit it: pass the stores to them.
            """)
    }
}

extension Preferences {
    /// The program's own preferences, in the suite that ``VaultApp`` names. In a task that has test stores, these are
    /// the test's preferences. Elsewhere in a test, all calls throw `unavailable`.
    public static var standard: Preferences { StandardStores.replaced?.preferences ?? shared }

    /// The log of errors of the standard preferences.
    public static let standardFailures = FailureLog()

    private static let shared: Preferences = {
        if let path = VaultApp.fixedIdentity()?.preferences {
            return Preferences(path: path, failures: standardFailures)
        }
        guard let refusal = StandardStores.refusal else {
            return Preferences(suite: VaultApp.name, failures: standardFailures)
        }
        return Preferences(.failure(refusal), nil, standardFailures, in: PosixFileSystem())
    }()
}

extension MemoryStore {
    /// The process's own values in memory. In a task that has test stores, this is the test's store.
    public static var standard: MemoryStore { StandardStores.replaced?.memory ?? shared }

    /// The log of errors of the standard store.
    public static let standardFailures = FailureLog()

    private static let shared = MemoryStore(failures: standardFailures)
}

// MARK: - References

extension StoreReference {
    /// A reference to ``Preferences/standard``.
    public static let preferences = StoreReference(failures: Preferences.standardFailures) { Preferences.standard }
    /// Returns a reference to the preferences of a suite, such as a user's own.
    public static func preferences(suite: String) -> StoreReference { .store(Preferences(suite: suite)) }
    /// A reference to ``MemoryStore/standard``. In test code without stores of its own, each use throws `unavailable`.
    public static let memory = StoreReference(failures: MemoryStore.standardFailures) { () throws(VaultError) in
        if StandardStores.replaced == nil, let refusal = StandardStores.refusal { throw refusal }
        return MemoryStore.standard
    }
}
