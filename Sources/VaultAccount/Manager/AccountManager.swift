import FoundationEssentials
public import Observation
import Synchronization
public import Vault

/// Keeps a person logged in: tokens in the vault, the profile in the preferences, and a state for observers.
///
/// An ``AccountService`` talks to the server. Use the manager from any thread and any actor. From its first use on it
/// follows the stores: what another process does to the accounts arrives by itself.
/// <doc:KeepingAPersonLoggedIn> shows each step.
///
/// Observation is notified on the main actor, after the change, so that a view on it misses none. Code elsewhere, and
/// programs whose main thread is blocked, use ``states``.
public final class AccountManager<Service: AccountService>: Sendable, Observable {
    /// Describes a person, beyond the login.
    public typealias Profile = Service.Profile
    /// Tells who is logged in, or why nobody is.
    public typealias State = AccountState<Profile>

    /// Configures an account manager.
    public struct Options: Sendable {
        /// Limits the age of a login; nil for no limit.
        public var validity: Duration?
        /// Counts ``validity`` from the last use of the login instead of its beginning. A use is a token that was given
        /// out or renewed. It is recorded in the vault when a tenth of the time has passed since the last record.
        public var extendsValidityWithUse = false
        /// Keeps the password in the vault. A login that is too old, or whose refresh is rejected, then renews itself
        /// wherever a token is needed.
        public var keepsPassword = false
        /// Renews access tokens so long before they end, but at most for half of their life: a request takes time, and
        /// clocks differ.
        public var leeway: Duration = .seconds(30)
        /// Sets how often an unreachable server is asked again.
        public var retries = AccountRetryPolicy()
        /// Tells the time; tests set their own.
        public var clock = AccountClock.system
        /// Whether the changes of other processes arrive by themselves; not in tests that make them at chosen moments.
        var followsStores = true

        /// Creates options with logins of any age, no kept password and three attempts.
        public init() {}
    }

    let service: Service
    let options: Options
    let storage: AccountStorage<Profile>
    /// What it has read belongs to the stores that it was read from: a manager in a `static let` serves many tests.
    private let memories = StoreLocal { Memory() }
    var core: Memory { memories.value }
    let registrar = ObservationRegistrar()
    let feed = ChangeFeed()

    /// Creates a manager. It reads nothing yet.
    ///
    /// - Parameters:
    ///   - keychain: keeps tokens and passwords; managers on one store share their accounts.
    ///   - preferences: keeps profiles and the last user name.
    public init(
        service: Service, keychain: StoreReference = .keychain, preferences: StoreReference = .preferences,
        options: Options = Options()
    ) {
        self.service = service
        self.options = options
        storage = AccountStorage(keychain: keychain, plain: preferences)
    }

    deinit { core.end() }
}

extension AccountManager {
    /// What was last read from the stores. The state is computed from it.
    enum View: Sendable, Equatable {
        case session(Session, Profile?)
        case ended(LogoutReason)
        case failed(VaultError)
    }

    /// Guards what is kept in memory.
    final class Memory: Sendable {
        private let core = Mutex(Core())

        func withLock<Result>(_ body: (inout sending Core) -> sending Result) -> sending Result {
            core.withLock(body)
        }

        deinit { end() }

        /// Ends the tasks that follow the stores.
        func end() {
            let (timer, followers) = core.withLock { ($0.timer, $0.followers) }
            timer?.cancel()
            for follower in followers { follower.cancel() }
        }
    }

    struct Core: Sendable {
        /// nil before the first look.
        var view: View?
        /// The last view of a session, with its profile, until a look finds that nobody is logged in.
        var lastSession: View?
        /// Why the profile could not be read at the last look; the view has the last one that could.
        var profileError: VaultError?
        /// Counts the looks that were taken over.
        var version = 0
        /// Tells observers when the view's login becomes too old.
        var timer: Task<Void, Never>?
        /// Look again after each change of a store.
        var followers: [Task<Void, Never>] = []
        /// The renewals that are running, by the account's id.
        var renewing: [String: Task<Result<Session, AccountError>, Never>] = [:]

        /// The view, unless the last look failed: the next call looks again then.
        var reliableView: View? {
            if case .failed = view { return nil }
            return profileError == nil ? view : nil
        }
    }
}
