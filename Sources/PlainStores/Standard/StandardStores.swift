private import CLinux
import LinuxSystem

/// A test's standard stores, which replace the program's. Each access reads them from a task-local value.
package struct StandardStores: Sendable {
    package let preferences: Preferences
    package let memory: MemoryStore
    let locals = StoreLocals()

    package init(preferences: Preferences, memory: MemoryStore) {
        self.preferences = preferences
        self.memory = memory
    }

    @TaskLocal package static var replaced: StandardStores?

    /// The error for test code that has no test stores and would therefore use the user's files; nil outside of tests.
    package static var refusal: VaultError? {
        guard vault_is_under_test() != 0 else { return nil }
        return VaultError(
            .unavailable,
            """
            A test has used a standard store without having stores of its own. Give the test the `.temporaryStores` \
            trait. Detached tasks and threads do not inherit the test's stores, so pass the stores to them.
            """)
    }
}

extension Preferences {
    /// The program's own preferences, in the suite that ``VaultApp`` names. In a task that has test stores, these are
    /// the test's preferences. Elsewhere in a test, all calls throw `unavailable`.
    public static var standard: Preferences { StandardStores.replaced?.preferences ?? shared }

    /// The log that receives errors from ``standard`` that a property's getter or setter cannot throw.
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
    /// The process's own store in memory. In a task that has test stores, this is the test's memory store.
    public static var standard: MemoryStore { StandardStores.replaced?.memory ?? shared }

    /// The log that receives errors from ``standard`` that a property's getter or setter cannot throw.
    public static let standardFailures = FailureLog()

    private static let shared = MemoryStore(failures: standardFailures)
}

extension StoreReference {
    /// A reference to ``Preferences/standard``.
    public static let preferences = StoreReference(failures: Preferences.standardFailures) { Preferences.standard }
    /// Returns a reference to the preferences of a suite, for example one per user.
    public static func preferences(suite: String) -> StoreReference { .store(Preferences(suite: suite)) }
    /// A reference to ``MemoryStore/standard``. In test code that has no test stores, each use throws `unavailable`.
    public static let memory = StoreReference(failures: MemoryStore.standardFailures) { () throws(VaultError) in
        if StandardStores.replaced == nil, let refusal = StandardStores.refusal { throw refusal }
        return MemoryStore.standard
    }
}

/// The program's name, which determines its part of the standard stores (see <doc:YourAppsVault>).
public enum VaultApp {
    package struct Identity: Sendable {
        package let name: String
        let preferences: String?
        /// The location of the program's own vault. Only the module Vault knows the location's type.
        package let vault: (any Hashable & Sendable)?
    }

    private struct State {
        var identity: Identity?
        /// Whether the program has used a standard store. After that, the program's identity cannot be changed.
        var isFixed = false
    }

    private static let state = Mutex(State())

    /// Sets the program's name. Call this once, before the first use of a standard store.
    ///
    /// In the user's vault, the entries of a named program begin with its name and a slash. For example, `vault` shows
    /// the key `"u.token"` of `mail` as `mail/u.token`. Its preferences are in the suite `mail`. A program that sets no
    /// name uses its executable file's name. If that file is renamed, the program no longer finds its values.
    ///
    /// - Parameters:
    ///   - name: a name that no other program has, such as `com.example.mail`. It must never change.
    ///   - preferences: the path of a property list to use instead of the suite's.
    /// - Throws: ``VaultError`` with `invalid` if `name` is empty or too long, if the program already has another
    ///   identity, or if it has used a standard store.
    public static func identify(as name: String, preferences: String? = nil) throws(VaultError) {
        try identify(as: name, preferences: preferences, vault: nil)
    }

    package static func identify(
        as name: String, preferences: String?, vault: (any Hashable & Sendable)?
    ) throws(VaultError) {
        try Naming.name.check(name)
        _ = try Preferences.fileName(ofSuite: name)
        let identity = Identity(name: name, preferences: preferences, vault: vault)
        let isAccepted = state.withLock { state in
            guard state.identity != identity else { return true }
            guard state.identity == nil, !state.isFixed else { return false }
            state.identity = identity
            return true
        }
        guard isAccepted else {
            throw VaultError(
                .invalid,
                "The program already has an identity, or has used a standard store. Set its name once, at the start.")
        }
    }

    /// The program's name: the one that it has set, otherwise the name of its executable file.
    public static var name: String { state.withLock { $0.identity }?.name ?? fileName }

    package static func fixedIdentity() -> Identity? {
        state.withLock { state in
            state.isFixed = true
            return state.identity
        }
    }

    package static let fileName: String = {
        let name = vault_program_path().map { String(cString: $0).lastPathComponent } ?? ""
        return name.isEmpty ? "default" : name
    }()
}

extension VaultApp.Identity: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.preferences == right.preferences
            && left.vault.map { AnyHashable($0) } == right.vault.map { AnyHashable($0) }
    }
}
