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
        /// How often what is known has changed.
        var changes = 0
        /// The refreshes that are on their way, by the account's id, for all who want one.
        var refreshing: [String: Task<Result<Session, AccountError>, Never>] = [:]
        /// Wakes observers when the session ends by itself.
        var expiry: Task<Void, Never>?
    }

    /// Who is logged in, or why nobody is.
    ///
    /// It is computed at each read: from whether a session is there, how long ago its login was, and why the last one ended.
    public var state: State {
        registrar.access(self, keyPath: \.state)
        return evaluate(core.withLock { ($0.known, $0.profile) })
    }

    /// Whether a person is logged in.
    public var isLoggedIn: Bool { state.isLoggedIn }

    func evaluate(_ view: (known: Core.Known, profile: Profile?)) -> State {
        switch view.known {
        case .nothing: return .unknown
        case .failed(let error): return .locked(error)
        case .ended(let reason): return .loggedOut(reason)
        case .session(let session):
            let account = Account(
                id: session.accountID, userName: session.userName, loggedInAt: session.loggedInAt, profile: view.profile
            )
            return isTooOld(session) ? .expired(account) : .loggedIn(account)
        }
    }

    private func isTooOld(_ session: Session) -> Bool {
        end(of: session).map { $0 <= options.now() } ?? false
    }

    /// Tells observers that the state is, or may be, another one.
    ///
    /// After the change, not around it: whoever was told before it, and looked at once from another thread, would find the old state, and
    /// hear no more.
    func tell() {
        registrar.withMutation(of: self, keyPath: \.state) {}
        feed.notify()
    }

    /// Reads the vault and the preferences anew: after another process may have changed them, or when a key is back.
    ///
    /// - Returns: the state as it is now.
    @discardableResult
    public func reload() -> State {
        while true {
            let changes = core.withLock { $0.changes }
            let view = look()
            guard let isNew = apply(view, ifNoneSince: changes) else { continue }
            if isNew {
                tell()
                watchForEnd(of: view.known)
            }
            return state
        }
    }

    /// - Returns: whether it was anything new; nil if something else was applied since, which may be later than what was seen.
    private func apply(_ view: (known: Core.Known, profile: Profile?), ifNoneSince changes: Int) -> Bool? {
        core.withLock { core in
            guard core.changes == changes else { return nil }
            guard core.known != view.known || core.profile != view.profile else { return false }
            core.known = view.known
            core.profile = view.profile
            core.changes += 1
            return true
        }
    }

    private func look() -> (known: Core.Known, profile: Profile?) {
        do {
            let (session, reason) = try vault().present()
            guard let session else { return (.ended(reason ?? .never), nil) }
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
