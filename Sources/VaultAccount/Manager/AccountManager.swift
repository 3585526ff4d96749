import FoundationEssentials
public import Observation
import Synchronization
public import Vault

/// A manager that keeps a person logged in. It stores tokens in the vault and the profile in the preferences.
///
/// An ``AccountService`` communicates with the server. Any thread or actor can use the manager. After its first use, it
/// follows the stores, so its ``state`` shows changes by other processes. See <doc:KeepingAPersonLoggedIn>.
///
/// Observers are notified on the main actor after a change, so a view misses no change. Use ``states`` in code on other
/// actors, and in programs whose main thread is blocked.
public final class AccountManager<Service: AccountService>: Sendable, Observable {
    /// The data about a person, apart from the login.
    public typealias Profile = Service.Profile
    /// The person who is logged in, or the reason why nobody is.
    public typealias State = AccountState<Profile>

    /// The options of an account manager.
    public struct Options: Sendable {
        /// The maximum age of a login; nil for no limit.
        public var validity: Duration?
        /// Whether ``validity`` is measured from the last use of the login, not from its start. Returning or renewing a
        /// token is a use. A use is recorded only if a tenth of the validity has passed since the last recorded one.
        public var extendsValidityWithUse = false
        /// Whether the password is kept in the vault. If so, the manager logs in with it when a token is needed and the
        /// login is too old or the server has rejected the tokens, but not if the server ended the session.
        public var keepsPassword = false
        /// How long before its expiry an access token is renewed, at most half of the token's lifetime. This allows for
        /// the duration of a request and for differences between clocks.
        public var leeway: Duration = .seconds(30)
        /// The number of attempts to reach a server, and the pauses between them.
        public var retries = AccountRetryPolicy()
        /// The source of time. Tests replace it.
        public var clock = AccountClock.system
        /// Whether the manager follows changes by other processes. Tests that control the timing of changes disable it.
        var followsStores = true

        /// Creates the default options: logins of any age, no kept password and three attempts.
        public init() {}
    }

    let service: Service
    let options: Options
    let storage: AccountStorage<Profile>
    /// The data that the manager keeps in memory. Each test has its own, since many tests may share one static manager.
    private let memories = StoreLocal { Memory() }
    var core: Memory { memories.value }
    let registrar = ObservationRegistrar()
    let feed = ChangeFeed()

    /// Creates a manager without reading the stores.
    ///
    /// - Parameters:
    ///   - keychain: the store for tokens and passwords; managers on the same store share their accounts.
    ///   - preferences: the store for profiles and the last user name.
    public init(
        service: Service, keychain: StoreReference = .keychain, preferences: StoreReference = .preferences,
        options: Options = Options()
    ) {
        self.service = service
        self.options = options
        storage = AccountStorage(keychain: keychain, plain: preferences)
    }

    deinit { core.end() }

    /// The result of reading the vault and the preferences. ``AccountManager/state`` is computed from it.
    enum View: Sendable, Equatable {
        case session(Session, Profile?)
        case ended(LogoutReason)
        case failed(VaultError)
    }

    final class Memory: Sendable {
        private let core = Mutex(Core())

        func withLock<Result>(_ body: (inout sending Core) -> sending Result) -> sending Result { core.withLock(body) }

        deinit { end() }

        func end() {
            let (timer, followers) = core.withLock { ($0.timer, $0.followers) }
            timer?.cancel()
            for follower in followers { follower.cancel() }
        }
    }

    struct Core: Sendable {
        /// The result of the last read of the vault and the preferences; nil before the first read.
        var view: View?
        /// The last result that was a session; nil if a later read has found that nobody is logged in.
        var lastSession: View?
        /// The error from the last read of the profile, if it failed. ``view`` then keeps the old profile.
        var profileError: VaultError?
        var version = 0
        /// The task that notifies observers when the login in ``view`` expires.
        var timer: Task<Void, Never>?
        /// The tasks that read the vault and the preferences again after each change.
        var followers: [Task<Void, Never>] = []
        /// The running tasks that renew tokens, by account id.
        var renewing: [String: Task<Session, any Error>] = [:]

        /// The same as ``view``, but nil if the last read failed, so that the next call reads the stores again.
        var reliableView: View? {
            if case .failed = view { return nil }
            return profileError == nil ? view : nil
        }
    }
}
