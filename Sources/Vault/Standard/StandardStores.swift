private import CLinux

/// The stores that are found without being passed around.
///
/// They are resolved at each access: a task-local value puts others in their place, as tests do.
package struct StandardStores: Sendable {
    package let keychain: Keychain
    package let preferences: Preferences
    package let memory: MemoryStore

    package init(keychain: Keychain, preferences: Preferences, memory: MemoryStore) {
        self.keychain = keychain
        self.preferences = preferences
        self.memory = memory
    }

    @TaskLocal package static var replaced: StandardStores?

    /// The store to use: that of the task, else the process's own.
    static func resolve<Store>(
        _ replacement: (StandardStores) -> Store, else own: () throws(VaultError) -> Store
    ) throws(VaultError) -> Store {
        if let replaced { return replacement(replaced) }
        guard vault_is_under_test() == 0 else {
            throw VaultError(
                .unavailable,
                "A test asked for a standard store outside of its own stores. Give the test the `.temporaryStores` trait; "
                    + "detached tasks and threads do not inherit it, so pass the stores to them.")
        }
        return try own()
    }
}
