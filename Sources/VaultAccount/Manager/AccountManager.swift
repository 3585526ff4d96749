public import FoundationEssentials
public import Observation
import Synchronization
public import Vault

/// Keeps a person logged in: tokens in the vault, the profile in the preferences, and a state for observers.
///
/// It knows no server: an ``AccountService`` talks to one. Use it from any thread and any actor. The vault decides: a
/// login or a logout is one commit there, and what a crash leaves pending in the preferences is done at the next start.
/// <doc:KeepingAPersonLoggedIn> shows each step.
public final class AccountManager<Service: AccountService>: Sendable, Observable {
    /// Describes a person, beyond the login.
    public typealias Profile = Service.Profile
    /// Tells who is logged in, or why nobody is.
    public typealias State = AccountState<Profile>

    /// Configures an account manager.
    public struct Options: Sendable {
        /// Limits the age of a login; nil for no limit.
        public var validity: Duration?
        /// Keeps the password in the vault, so that a login that is too old renews itself.
        public var keepsPassword = false
        /// Sets how often an unreachable server is asked again.
        public var retries = RetryPolicy()
        /// Reads the clock; tests set their own.
        public var now: @Sendable () -> Date = { Date() }
        /// Waits; tests need not.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

        /// Creates options with logins of any age, no kept password and three attempts.
        public init() {}
    }

    /// What was last read from the stores. The state is computed from it.
    enum View: Sendable, Equatable {
        case unread
        case session(Session, Profile?)
        case ended(LogoutReason)
        case failed(VaultError)
    }

    struct Core: Sendable {
        var view = View.unread
        /// Counts the changes of the view.
        var version = 0
        /// The refreshes that are running, by the account's id, for all callers that want one.
        var refreshing: [String: Task<Result<Session, AccountError>, Never>] = [:]
    }

    let service: Service
    let options: Options
    let storage: AccountStorage
    let core = Mutex(Core())
    private let expiry = ExpiryTimer()
    private let registrar = ObservationRegistrar()
    fileprivate let feed = ChangeFeed()

    /// Creates a manager. It reads nothing yet.
    ///
    /// - Parameters:
    ///   - keychain: keeps tokens and passwords; managers on one store share their accounts. Without one it is the part
    ///     of ``Keychain/standard`` that is scoped to the program's name: other programs have accounts of their own.
    ///   - preferences: keeps profiles and the last user name.
    public init(
        service: Service, keychain: StoreReference? = nil, preferences: StoreReference = .preferences,
        options: Options = Options()
    ) {
        self.service = service
        self.options = options
        let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "default"
        storage = AccountStorage(keychain: keychain ?? .keychain.scoped(to: program), plain: preferences)
    }
}

extension AccountManager {
    /// Tells who is logged in, or why nobody is.
    ///
    /// Each read computes it anew: a login becomes too old without any change in memory.
    public var state: State {
        registrar.access(self, keyPath: \.state)
        switch core.withLock({ $0.view }) {
        case .unread: return .unknown
        case .failed(let error): return .locked(error)
        case .ended(let reason): return .loggedOut(reason)
        case .session(let session, let profile):
            let account = Account(
                id: session.accountID, userName: session.userName, loggedInAt: session.loggedInAt, profile: profile)
            return isExpired(session) ? .expired(account) : .loggedIn(account)
        }
    }

    /// Tells whether a person is logged in.
    public var isLoggedIn: Bool { state.isLoggedIn }

    /// Reads the vault and the preferences again: after another process may have changed them, or when a key is back.
    ///
    /// - Returns: the state as it is now.
    @discardableResult
    public func reload() -> State {
        load()
        return state
    }

    func load() {
        let (former, version) = core.withLock { ($0.view, $0.version) }
        let view = readView()
        let isApplied = core.withLock { core in
            guard core.version == version else { return false }
            if view != former { (core.view, core.version) = (view, version + 1) }
            return true
        }
        // Another view was applied since, which may be later than this one.
        guard isApplied else { return load() }
        guard view != former else { return }
        tellObservers()
        var end: Date?
        if case .session(let session, _) = view { end = self.end(of: session) }
        expiry.set(end, version: version + 1, options.now, options.sleep) { [weak self] in self?.tellObservers() }
    }

    /// Changes the stores. Memory then follows the vault, also after a failure.
    func change<Result>(_ stores: @autoclosure () throws(VaultError) -> Result) throws(AccountError) -> Result {
        defer { load() }
        return try stored(stores())
    }

    private func readView() -> View {
        do {
            let (session, reason) = try storage.vault().present()
            guard let session else { return .ended(reason ?? .never) }
            return .session(session, readProfile(of: session))
        } catch { return .failed(error) }
    }

    /// A profile that cannot be read does not log anyone out.
    private func readProfile(of session: Session) -> Profile? {
        do { return try storage.preferences().profile(session.accountID, Profile.self) } catch {
            storage.report(error)
            return nil
        }
    }

    /// Returns what memory has, and reads it the first time.
    func firstView() -> View {
        if case .unread = core.withLock({ $0.view }) { load() }
        return core.withLock { $0.view }
    }

    /// Returns the session of the person who is logged in, as memory has it.
    func currentSession() throws(AccountError) -> Session {
        switch firstView() {
        case .session(let session, _):
            guard !isExpired(session) else { throw .expired }
            return session
        case .ended(let reason): throw .notLoggedIn(reason)
        case .failed(let error): throw .store(error)
        case .unread: throw .notLoggedIn(.never)
        }
    }

    private func isExpired(_ session: Session) -> Bool { end(of: session).map { $0 <= options.now() } ?? false }

    /// Returns when a session ends by time; nil if it does not.
    private func end(of session: Session) -> Date? {
        let window = options.validity.map { session.loggedInAt.addingTimeInterval($0 / .seconds(1)) }
        let token = session.tokens.refresh == nil ? session.tokens.expires : nil
        return [window, token].compactMap { $0 }.min()
    }

    /// Tells observers that the state may have changed: after the change, not around it. An observer that was told
    /// before it, and read the state at once from another thread, would find the old one and hear no more.
    private func tellObservers() {
        registrar.withMutation(of: self, keyPath: \.state) {}
        feed.notify()
    }

    /// Returns the present state, then the latest after each change, until the task is cancelled.
    public var states: AccountStates<Service> { AccountStates(manager: self) }
}

/// Gives the present state of an ``AccountManager``, then the latest after each change.
public struct AccountStates<Service: AccountService>: AsyncSequence, Sendable {
    public typealias Element = AccountState<Service.Profile>

    fileprivate let manager: AccountManager<Service>

    public func makeAsyncIterator() -> Iterator {
        // Only a feed that watches a file can fail.
        let notices = (try? manager.feed.notices()) ?? AsyncStream { $0.finish() }
        return Iterator(manager: manager, notices: notices.makeAsyncIterator())
    }

    /// Gives the states one after the other, to one task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let manager: AccountManager<Service>
        fileprivate var notices: AsyncStream<Void>.Iterator
        fileprivate var last: Element?

        public mutating func next() async -> Element? {
            repeat {
                let state = manager.state
                if state != last {
                    last = state
                    return state
                }
            } while await notices.next() != nil
            return nil
        }
    }
}
