import FoundationEssentials
import Synchronization
import Vault

extension AccountManager {
    /// Logs in. The login is in the vault when this method returns. Another account that was logged in stays available.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: ``AccountError``: `rejected`, `cancelled`, or `unreachable` after all attempts, each with nothing
    ///   changed; `store` if storing the login failed. If ``state`` shows the login nevertheless, only its profile is
    ///   missing from the preferences. The profile is then written at the next start.
    @discardableResult
    public func login(userName: String, password: String) async throws(AccountError) -> State {
        try await reportedAsynchronously { try await logIn(userName, password) }
        return state
    }

    /// - Parameter former: the session that this login renews automatically; nil if a person logs in.
    func logIn(_ userName: String, _ password: String, renewing former: Session? = nil) async throws {
        let login = try await withRetries(await service.login(userName: userName, password: password))
        let kept = options.keepsPassword ? password : nil
        let session = Session(
            accountID: login.accountID, userName: userName, tokens: login.tokens, loggedInAt: options.clock.now())
        try await blocking {
            try self.change(self.storage.logIn(session, login.profile, password: kept, renewing: former))
        }
    }

    /// Determines who is logged in. Call this when the program starts. The server is contacted only in two cases: to
    /// renew an expired login with a kept password, and to log in with a password that ``migrate(from:)`` found.
    ///
    /// - Returns: the state. If the server cannot be reached or the vault cannot be opened, nobody is logged out.
    @discardableResult
    public func autoLogin() async -> State {
        let (state, pending) = await blocking {
            let pending = Result { try self.storage.finishPendingWork() }
            return (self.reload(), pending)
        }
        switch state {
        // The states `locked` and `unavailable` already contain the vault's error, so it is not reported separately.
        case .locked, .unavailable: return state
        case .unknown, .loggedOut, .loggedIn, .expired:
            if case .failure(let error) = pending { storage.report(error) }
        }
        switch state {
        case .loggedOut: return await waitingLogin()
        case .expired: return await renewedLogin()
        default: return state
        }
    }

    private func waitingLogin() async -> State {
        guard let waiting = try? await blocking({ try self.storage.vault().waiting.read() })
        else { return state }
        do { return try await login(userName: waiting.userName, password: waiting.password) } catch {
            await blocking {
                if case .rejected = error { try? self.storage.vault().drop(waiting) }
                self.load()
            }
            return state
        }
    }

    private func renewedLogin() async -> State {
        // If the server cannot be reached, the state stays the same.
        do { _ = try await freshSession() } catch { storage.report(error) }
        return state
    }

    /// Returns the user name of the last login, as the default for the next login; nil if nobody has logged in.
    ///
    /// - Throws: ``AccountError/store(_:)``.
    public func lastUserName() throws(AccountError) -> String? {
        try reported { try storage.preferences().lastUserName.read() }
    }

    /// Logs out the account that ``state`` shows. Removes its tokens, profile and kept password, and a password that
    /// ``migrate(from:)`` found. Compacts the vault. <doc:KeepingAPersonLoggedIn> explains where copies may remain.
    ///
    /// - Throws: ``AccountError/store(_:)``. If ``state`` still shows the account, nothing was changed. Otherwise, the
    ///   person is logged out, and the next start of the program removes the profile, but does not compact the vault.
    public func logout() throws(AccountError) {
        try reported {
            if let id = try shownAccount() {
                try logOut(id, .byUser)
            } else {
                try change(storage.vault().removeWaiting())
                try change(storage.finishLogout())
            }
        }
    }

    /// Records that the server has ended the session that ``state`` shows. Call this if the server reports this in its
    /// answer to one of the app's own requests. Unlike ``logout()``, this keeps the profile for the next login.
    ///
    /// - Throws: ``AccountError/store(_:)``, as ``logout()`` does.
    public func endedByServer() throws(AccountError) {
        try reported { if let id = try shownAccount() { try logOut(id, .endedByServer) } }
    }

    private func shownAccount() throws -> String? {
        switch reliableView() {
        case .session(let session, _): return session.accountID
        case .failed(let error): throw error
        case .ended: return nil
        }
    }

    /// Ends the session of the account `id`, which need not be the current account. If `tokens` is not nil and the
    /// account has different tokens, changes nothing and returns false.
    @discardableResult
    func logOut(_ id: String, _ reason: LogoutReason, if tokens: AccountTokens? = nil) throws -> Bool {
        guard try change(storage.vault().logOut(id, reason, if: tokens)) else { return false }
        try change(storage.finishLogout())
        return true
    }
}
