public import FoundationEssentials
public import Observation
import Synchronization
public import Vault

/// Keeps a person logged in: tokens in the vault, the profile in the preferences, and a state that says who is logged in, or why
/// nobody is.
///
/// ```swift
/// let manager = AccountManager(service: MyService())
/// if await manager.autoLogin().isLoggedIn == false {
///     try await manager.login(userName: name, password: password)
/// }
/// request.setValue(try await manager.authorizationHeaderValue(), forHTTPHeaderField: "Authorization")
/// ```
///
/// It knows no server: an ``AccountService`` talks to one. It may be used from any thread and any actor. The vault's record decides:
/// a login or a logout is one commit there; what the preferences still owe after a crash is made good at the next start.
public final class AccountManager<Service: AccountService>: Sendable, Observable {
    /// What the app knows of a person beside the login.
    public typealias Profile = Service.Profile
    /// Who is logged in, or why nobody is.
    public typealias State = AccountState<Profile>

    /// How an account manager works.
    public struct Options: Sendable {
        /// How long a login holds; nil for ever.
        public var validity: Duration?
        /// Whether the password is kept in the vault, so that a login that is too old renews itself.
        public var keepsPassword = false
        /// How often an unreachable server is asked again.
        public var retries = RetryPolicy()
        /// The clock; another one in tests.
        public var now: @Sendable () -> Date = { Date() }
        /// How to wait; tests need not.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

        /// A login that holds for ever, no kept password, three attempts.
        public init() {}
    }

    let service: Service
    let options: Options
    private let keychainReference: StoreReference
    private let preferencesReference: StoreReference
    let core = Mutex(Core())
    let registrar = ObservationRegistrar()
    let feed = ChangeFeed()

    /// - Parameters:
    ///   - keychain: where tokens and passwords lie; several managers on one store share their accounts. Without one it is the part of
    ///     ``Keychain/standard`` that is scoped to the program's name: other programs have accounts of their own.
    ///   - preferences: where profiles and the last user name lie.
    public init(
        service: Service, keychain: StoreReference? = nil, preferences: StoreReference = .preferences,
        options: Options = Options()
    ) {
        self.service = service
        self.options = options
        keychainReference = keychain ?? .keychain.scoped(to: Self.programName)
        preferencesReference = preferences
    }

    private static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "default"
    }

    deinit {
        core.withLock { $0.expiry?.cancel() }
    }

    func vault() throws(VaultError) -> AccountVault {
        AccountVault(try keychainReference.store())
    }

    func preferencesStore() throws(VaultError) -> any ValueStore {
        try preferencesReference.store()
    }

    func preferences() throws(VaultError) -> AccountPreferences {
        AccountPreferences(try preferencesStore())
    }
}
