import FoundationEssentials
import Observation
import Synchronization
import Vault

extension AccountManager {
    /// What is known, part by part; the state is computed from it.
    struct Core: Sendable {
        enum Known: Sendable, Equatable {
            case nothing
            case session(Session)
            case ended(LogoutReason)
            case failed(VaultError)
        }

        var known = Known.nothing
        var profile: Profile?
        /// The refresh that is on its way, for all who want one.
        var refreshing: (id: Int, task: Task<Result<Tokens, AccountError>, Never>)?
        var nextRefresh = 0
        /// Wakes observers when the session ends by itself.
        var expiry: Task<Void, Never>?
    }

    /// Who is logged in, or why nobody is.
    ///
    /// It is computed at each read: from whether a session is there, how long ago its login was, and why the last one ended.
    public var state: State {
        registrar.access(self, keyPath: \.state)
        return core.withLock { evaluate($0) }
    }

    /// Whether a person is logged in.
    public var isLoggedIn: Bool { state.isLoggedIn }

    func evaluate(_ core: Core) -> State {
        switch core.known {
        case .nothing: return .unknown
        case .failed(let error): return .locked(error)
        case .ended(let reason): return .loggedOut(reason)
        case .session(let session):
            let account = Account(
                id: session.accountID, userName: session.userName, loggedInAt: session.loggedInAt, profile: core.profile
            )
            return isTooOld(session) ? .expired(account) : .loggedIn(account)
        }
    }

    private func isTooOld(_ session: Session) -> Bool {
        end(of: session).map { $0 <= options.now() } ?? false
    }

    /// Takes note of a change, and tells observers.
    func note(_ change: (inout sending Core) -> Void) {
        core.withLock { change(&$0) }
        // After the change, not around it: whoever was told before it, and looked at once from another thread, would find the old
        // state, and hear no more.
        registrar.withMutation(of: self, keyPath: \.state) {}
        feed.notify()
    }

    /// Reads the vault and the preferences anew: after another process may have changed them, or when a key is back.
    ///
    /// - Returns: the state as it is now.
    @discardableResult
    public func reload() -> State {
        let (known, profile) = look()
        let isNew = core.withLock { $0.known != known || $0.profile != profile }
        if isNew {
            note {
                $0.known = known
                $0.profile = profile
            }
            if case .session(let session) = known { watchForEnd(of: session) } else { watchForEnd(of: nil) }
        }
        return state
    }

    private func look() -> (Core.Known, Profile?) {
        do {
            let vault = try vault()
            guard let session = try vault.currentSession() else {
                return (.ended(try vault.ended.read() ?? .never), nil)
            }
            return (.session(session), profile(of: session))
        } catch { return (.failed(error), nil) }
    }

    /// A profile that cannot be read logs nobody out.
    private func profile(of session: Session) -> Profile? {
        do { return try preferences().profile(session.accountID, Profile.self) } catch {
            report(error)
            return nil
        }
    }

    /// Tells of an error of the preferences that does not change who is logged in.
    func report(_ error: VaultError) {
        (try? preferencesStore().failures)?.report(error, key: "account")
    }
}

extension AccountManager {
    /// One notice for any number of changes.
    func notices() -> AsyncStream<Void> {
        // Only a feed that watches a file can fail.
        (try? feed.notices()) ?? AsyncStream { $0.finish() }
    }

    /// The present state, then the latest after each change, until the task is cancelled. States in between may be skipped.
    public var states: AccountStates<Service> { AccountStates(manager: self) }
}
