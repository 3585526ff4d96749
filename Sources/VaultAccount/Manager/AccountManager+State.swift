import FoundationEssentials
import Observation
import Synchronization
import Vault

extension AccountManager {
    /// Tells who is logged in, or why nobody is.
    public var state: State {
        registrar.access(self, keyPath: \.state)
        // Computed anew each time: a login becomes too old without any change in memory.
        switch core.withLock({ $0.view }) {
        case nil: return .unknown
        case .failed(let error): return error.code == .locked ? .locked(error) : .unavailable(error)
        case .ended(let reason): return .loggedOut(reason)
        case .session(let session, let profile):
            let account = AccountDetails(
                id: session.accountID, userName: session.userName, loggedInAt: session.loggedInAt, profile: profile)
            return isPast(end(of: session)) ? .expired(account) : .loggedIn(account)
        }
    }

    /// Tells whether a person is logged in.
    public var isLoggedIn: Bool { state.isLoggedIn }

    /// Reads the vault and the preferences again, for example when a key is back.
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
            let before = core.withLock { $0 }
            let (view, profileError) = readView(before.lastSession)
            var (isChanged, timer) = (false, Task<Void, Never>?.none)
            let isApplied = core.withLock { core in
                guard core.version == before.version else { return false }
                core.version += 1
                core.profileError = profileError
                switch view {
                case .session: core.lastSession = view
                case .ended: core.lastSession = nil
                case .failed: break
                }
                if core.followers.isEmpty { core.followers = followers() }
                guard core.view != view else { return true }
                (isChanged, timer) = (true, core.timer)
                (core.view, core.timer) = (view, self.timer(for: view))
                return true
            }
            guard isApplied else { continue }
            timer?.cancel()
            if let profileError, profileError != before.profileError { storage.report(profileError) }
            if isChanged { tellObservers() }
            return view
        }
    }

    /// - Returns: what the stores have, and why the profile could not be read. That does not log anyone out: the one of
    ///   the former view stays.
    private func readView(_ former: View?) -> (View, profileError: VaultError?) {
        do throws(VaultError) {
            let (session, held, reason) = try storage.vault().present()
            guard let session else { return (.ended(reason ?? .never), nil) }
            do throws(VaultError) {
                let fields = try storage.fields(of: session.accountID, held)
                let profile = fields.isEmpty ? nil : Profile.from(primitive: .dictionary(fields))
                return (.session(session, profile), nil)
            } catch {
                guard case .session(let known, let profile) = former, known.accountID == session.accountID else {
                    return (.session(session, nil), error)
                }
                return (.session(session, profile), error)
            }
        } catch { return (.failed(error), nil) }
    }

    /// Changes the stores. Memory then follows the vault, also after a failure.
    func change<Result>(_ stores: @autoclosure () throws(VaultError) -> Result) throws(AccountError) -> Result {
        defer { load() }
        return try stored(stores())
    }

    /// Tells observers that the state may have changed: after the change, not around it. An observer that was told
    /// before it, and read the state at once from another thread, would find the old one and hear no more. And on the
    /// main actor: a view there that is just reading the state has not yet asked to be told.
    private func tellObservers() {
        feed.notify()
        Task { @MainActor [weak self] in
            guard let self else { return }
            registrar.withMutation(of: self, keyPath: \.state) {}
        }
    }
}

// MARK: - The end of a login by time

extension AccountManager {
    /// Returns what tells observers when a login becomes too old: no store changes then.
    private func timer(for view: View) -> Task<Void, Never>? {
        guard case .session(let session, _) = view, let end = end(of: session) else { return nil }
        return Task.detached { [clock = options.clock, weak self] in
            while !Task.isCancelled {
                let before = clock.now()
                guard before < end else {
                    self?.tellObservers()
                    return
                }
                // An hour at most: the clock may be set meanwhile, and the end may be later than a sleep can last.
                try? await clock.sleep(.seconds(min(end.timeIntervalSince(before), 3_600)))
                // A clock that stands still, or was set back, must not turn this into a busy loop.
                if clock.now() <= before { try? await Task.sleep(for: .seconds(1)) }
            }
        }
    }

    func isPast(_ end: Date?) -> Bool { end.map { $0 <= options.clock.now() } ?? false }

    /// Returns when a session ends by time; nil if it does not.
    func end(of session: Session) -> Date? {
        let start = options.extendsValidityWithUse ? session.lastUse : session.loggedInAt
        let window = options.validity.map { start.addingTimeInterval($0 / .seconds(1)) }
        let token = session.tokens.refresh == nil ? session.tokens.expires : nil
        return [window, token].compactMap { $0 }.min()
    }

    /// Returns when the tokens of a session are to be refreshed; nil if not by time.
    func refreshTime(of session: Session) -> Date? {
        guard let expires = session.tokens.expires, session.tokens.refresh != nil else { return nil }
        let life = expires.timeIntervalSince(session.renewedAt ?? session.loggedInAt)
        return expires - max(0, min(options.leeway / .seconds(1), life / 2))
    }
}

extension Session {
    var lastUse: Date { [loggedInAt, renewedAt, usedAt].compactMap(\.self).max() ?? loggedInAt }
}

// MARK: - Following the stores

extension AccountManager {
    private func followers() -> [Task<Void, Never>] {
        options.followsStores ? [follower(of: storage.keychain), follower(of: storage.plain)] : []
    }

    /// Looks again after each change of a store. It holds the manager only meanwhile.
    private func follower(of store: StoreReference) -> Task<Void, Never> {
        // Not detached: in tests the task has the stores.
        Task { [weak self] in
            var pause: Duration = .seconds(1)
            while !Task.isCancelled {
                let notices = try? await blocking { () throws(VaultError) in try store.store().changes.notices() }
                var iterator = notices?.makeAsyncIterator()
                repeat {
                    // What changed before the notices began is seen now.
                    while let isReliable = await self?.lookAgain(), !isReliable, !Task.isCancelled {
                        try? await Task.sleep(for: pause)
                        // A look at a locked vault may cost a derivation of its key.
                        pause = min(pause * 2, .seconds(60))
                    }
                    if notices != nil { pause = .seconds(1) }
                } while await iterator?.next() != nil
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(60))
            }
        }
    }

    /// - Returns: whether the stores could be read.
    private func lookAgain() async -> Bool {
        await blocking {
            self.load()
            return self.core.withLock { $0.reliableView != nil }
        }
    }
}

// MARK: - Reading what memory has

extension AccountManager {
    /// Returns what memory has, after reading it the first time, and again if the last look failed.
    func reliableView() -> View { core.withLock { $0.reliableView } ?? load() }

    /// Returns the session of the current account, which has not ended by time.
    func currentSession() throws(AccountError) -> Session {
        let session = try session(of: reliableView())
        guard !isPast(end(of: session)) else { throw .expired }
        return session
    }

    func session(of view: View) throws(AccountError) -> Session {
        switch view {
        case .session(let session, _): return session
        case .ended(let reason): throw .notLoggedIn(reason)
        case .failed(let error): throw .store(error)
        }
    }
}
