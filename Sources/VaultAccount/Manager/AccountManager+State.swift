import FoundationEssentials
import Observation
import Synchronization
import Vault

extension AccountManager {
    /// The person who is logged in, or the reason why nobody is.
    public var state: State {
        registrar.access(self, keyPath: \.state)
        // The state is computed at each access, because a login can expire without any change to the data in memory.
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

    /// Whether a person is logged in.
    public var isLoggedIn: Bool { state.isLoggedIn }

    /// Reads the vault and the preferences again, for example after a key has become available.
    ///
    /// - Returns: the current state.
    @discardableResult
    public func reload() -> State {
        load()
        return state
    }

    /// Reads the stores and applies the resulting view. Retries if another task has applied a newer view.
    @discardableResult
    func load() -> View {
        while true {
            let before = core.withLock { $0 }
            let (view, profileError) = readView(before.lastSession)
            var isChanged = false
            var timer: Task<Void, Never>?
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
                isChanged = true
                timer = core.timer
                core.view = view
                core.timer = self.timer(for: view)
                return true
            }
            guard isApplied else { continue }
            timer?.cancel()
            if let profileError, profileError != before.profileError { storage.report(profileError) }
            if isChanged { notifyObservers() }
            return view
        }
    }

    /// Reads the login and the profile from the stores. If the profile is unreadable, the person stays logged in, and
    /// the result contains the error and the last profile that was read.
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

    /// Changes the stores, then reads them again, even if the change fails.
    func change<Result>(_ stores: @autoclosure () throws -> Result) throws -> Result {
        defer { load() }
        return try stores()
    }

    /// Notifies observers after the state has changed. An observer that was notified before the change could read the
    /// old state, and would get no further notification. The notification is sent on the main actor. A view that is
    /// reading the state there can therefore finish subscribing first.
    private func notifyObservers() {
        feed.notify()
        Task { @MainActor [weak self] in
            guard let self else { return }
            registrar.withMutation(of: self, keyPath: \.state) {}
        }
    }

    /// Returns a task that notifies observers when a login expires, since the expiry changes no store.
    private func timer(for view: View) -> Task<Void, Never>? {
        guard case .session(let session, _) = view, let end = end(of: session) else { return nil }
        return Task.detached { [clock = options.clock, weak self] in
            while !Task.isCancelled {
                let before = clock.now()
                guard before < end else {
                    self?.notifyObservers()
                    return
                }
                // Sleep for at most an hour: the clock may be changed, and a sleep's length is limited.
                try? await clock.sleep(.seconds(min(end.timeIntervalSince(before), 3_600)))
                // If the clock has stopped or was set back, sleep anyway, so that this does not become a busy loop.
                if clock.now() <= before { try? await Task.sleep(for: .seconds(1)) }
            }
        }
    }

    func isPast(_ end: Date?) -> Bool { end.map { $0 <= options.clock.now() } ?? false }

    /// Returns the time at which a session expires; nil if it never does.
    func end(of session: Session) -> Date? {
        let start = options.extendsValidityWithUse ? session.lastUse : session.loggedInAt
        let window = options.validity.map { start.addingTimeInterval($0 / .seconds(1)) }
        let token = session.tokens.refresh == nil ? session.tokens.expires : nil
        return [window, token].compactMap { $0 }.min()
    }

    /// Returns the time at which a session's tokens become due for a refresh; nil if they never do.
    func refreshTime(of session: Session) -> Date? {
        guard let expires = session.tokens.expires, session.tokens.refresh != nil else { return nil }
        let life = expires.timeIntervalSince(session.renewedAt ?? session.loggedInAt)
        return expires - max(0, min(options.leeway / .seconds(1), life / 2))
    }
}

extension Session { var lastUse: Date { [loggedInAt, renewedAt, usedAt].compactMap(\.self).max() ?? loggedInAt } }

extension AccountManager {
    private func followers() -> [Task<Void, Never>] {
        options.followsStores ? [follower(of: storage.keychain), follower(of: storage.plain)] : []
    }

    /// Returns a task that reads the stores after each change. The task retains the manager only while it reads.
    private func follower(of store: StoreReference) -> Task<Void, Never> {
        // The task is not detached, so that it inherits a test's stores, which are task-local values.
        Task { [weak self] in
            var pause: Duration = .seconds(1)
            while !Task.isCancelled {
                let notices = try? await blocking { try store.store().changes.notices() }
                var iterator = notices?.makeAsyncIterator()
                repeat {
                    // Reads even before the first notification, to find changes made before the subscription began.
                    while let isReliable = await self?.loadAgain(), !isReliable, !Task.isCancelled {
                        try? await Task.sleep(for: pause)
                        // Each attempt to read a locked vault may derive a key, which is slow, so the pauses grow.
                        pause = min(pause * 2, .seconds(60))
                    }
                    if notices != nil { pause = .seconds(1) }
                } while await iterator?.next() != nil
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(60))
            }
        }
    }

    private func loadAgain() async -> Bool {
        await blocking {
            self.load()
            return self.core.withLock { $0.reliableView != nil }
        }
    }

    /// Returns the login state in memory. Reads the stores on the first call, and whenever the last read failed.
    func reliableView() -> View { core.withLock { $0.reliableView } ?? load() }

    func currentSession() throws -> Session {
        let session = try session(of: reliableView())
        guard !isPast(end(of: session)) else { throw AccountError.expired }
        return session
    }

    func session(of view: View) throws -> Session {
        switch view {
        case .session(let session, _): return session
        case .ended(let reason): throw AccountError.notLoggedIn(reason)
        case .failed(let error): throw error
        }
    }
}
