public import FoundationEssentials
public import Observation
import Synchronization
public import Vault

/// Keeps a person logged in: tokens in the vault, the profile in the preferences, and a state for observers.
///
/// An ``AccountService`` talks to the server. Use the manager from any thread and any actor.
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
        case session(Session, Profile?)
        case ended(LogoutReason)
        case failed(VaultError)
    }

    struct Core: Sendable {
        /// nil before the first look.
        var view: View?
        /// Counts the changes of the view.
        var version = 0
        /// Tells observers when the view's login becomes too old.
        var timer: Task<Void, Never>?
        /// The refreshes that are running, by the account's id.
        var refreshing: [String: Task<Result<Session, AccountError>, Never>] = [:]
    }

    let service: Service
    let options: Options
    let storage: AccountStorage
    let core = Mutex(Core())
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
        let keychain = keychain ?? .keychain.scoped(to: AccountManager.programName)
        storage = AccountStorage(keychain: keychain, plain: preferences)
    }

    private static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "default"
    }

    deinit { core.withLock { $0.timer }?.cancel() }
}

extension AccountManager {
    /// Tells who is logged in, or why nobody is.
    public var state: State {
        registrar.access(self, keyPath: \.state)
        // Computed anew each time: a login becomes too old without any change in memory.
        switch core.withLock({ $0.view }) {
        case nil: return .unknown
        case .failed(let error): return .locked(error)
        case .ended(let reason): return .loggedOut(reason)
        case .session(let session, let profile):
            let account = Account(
                id: session.accountID, userName: session.userName, loggedInAt: session.loggedInAt, profile: profile)
            return isPast(end(of: session)) ? .expired(account) : .loggedIn(account)
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

    /// Reads the stores, and again if another view was applied meanwhile: that one may be later than what was read.
    @discardableResult
    func load() -> View {
        while true {
            let version = core.withLock { $0.version }
            let view = readView()
            var former: Core?
            let isApplied = core.withLock { core in
                guard core.version == version else { return false }
                guard core.view != view else { return true }
                former = core
                (core.view, core.version, core.timer) = (view, version + 1, timer(for: view))
                return true
            }
            guard isApplied else { continue }
            if let former {
                former.timer?.cancel()
                tellObservers()
            }
            return view
        }
    }

    /// Returns what tells observers when a login becomes too old: no store changes then.
    private func timer(for view: View) -> Task<Void, Never>? {
        guard case .session(let session, _) = view, let end = end(of: session) else { return nil }
        return Task.detached { [options, weak self] in
            while !Task.isCancelled {
                let before = options.now()
                guard before < end else {
                    self?.tellObservers()
                    return
                }
                // An hour at most: the clock may be set meanwhile, and the end may be later than a sleep can last.
                try? await options.sleep(.seconds(min(end.timeIntervalSince(before), 3_600)))
                // A clock that stands still, or was set back, must not turn this into a busy loop.
                if options.now() <= before { try? await Task.sleep(for: .seconds(1)) }
            }
        }
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

    /// Returns what memory has, after reading it the first time.
    func firstView() -> View { core.withLock { $0.view } ?? load() }

    func currentSession() throws(AccountError) -> Session {
        switch firstView() {
        case .session(let session, _):
            guard !isPast(end(of: session)) else { throw .expired }
            return session
        case .ended(let reason): throw .notLoggedIn(reason)
        case .failed(let error): throw .store(error)
        }
    }

    func isPast(_ end: Date?) -> Bool { end.map { $0 <= options.now() } ?? false }

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

// MARK: - Errors

/// Reports a server's error as ``AccountError/rejected(_:)`` or ``AccountError/unreachable(_:)``.
func answered<Answer>(
    _ answer: @autoclosure () async throws(ServiceError) -> Answer
) async throws(AccountError) -> Answer {
    do { return try await answer() } catch {
        throw error.kind == .rejected ? .rejected(error) : .unreachable(error)
    }
}
