import FoundationEssentials
import Synchronization
import Vault

extension AccountManager {
    /// Logs in. The login is in the vault when this returns. Another account that was logged in can be switched to.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: ``AccountError``: `rejected`, `cancelled`, or `unreachable` after all attempts: nothing was changed.
    ///   `store` if the login could not be kept; if the state shows it, only the preferences lack the profile, until
    ///   the next start.
    @discardableResult
    public func login(userName: String, password: String) async throws(AccountError) -> State {
        try await logIn(userName, password)
        return state
    }

    /// - Parameter former: the session that this login renews, if no person has asked for it.
    func logIn(_ userName: String, _ password: String, renewing former: Session? = nil) async throws(AccountError) {
        let login = try await ask(await answered(await service.login(userName: userName, password: password)))
        let kept = options.keepsPassword ? password : nil
        let session = Session(
            accountID: login.accountID, userName: userName, tokens: login.tokens, loggedInAt: options.clock.now())
        try await blocking { () throws(AccountError) in
            try self.change(self.storage.logIn(session, login.profile, password: kept, renewing: former))
        }
    }

    /// Finds out at a program's start who is logged in, without the network. It asks the server only to renew a login
    /// that is too old with a kept password, and to log in with a password that ``migrate(from:)`` found.
    ///
    /// - Returns: the state. A server that cannot be reached and a vault that cannot be opened change nothing.
    @discardableResult
    public func autoLogin() async -> State {
        let (state, settled) = await blocking {
            let settled = Result { () throws(VaultError) in try self.storage.settle() }
            return (self.reload(), settled)
        }
        switch state {
        // The state itself tells of a vault that cannot be opened.
        case .locked, .unavailable: return state
        case .unknown, .loggedOut, .loggedIn, .expired:
            if case .failure(let error) = settled { storage.report(error) }
        }
        switch state {
        case .loggedOut: return await waitingLogin()
        case .expired: return await renewedLogin()
        default: return state
        }
    }

    private func waitingLogin() async -> State {
        guard let waiting = try? await blocking({ () throws(VaultError) in try self.storage.vault().waiting.read() })
        else { return state }
        do { return try await login(userName: waiting.userName, password: waiting.password) } catch {
            await blocking {
                if case .rejected = error { try? self.storage.vault().giveUp(waiting) }
                self.load()
            }
            return state
        }
    }

    private func renewedLogin() async -> State {
        do throws(AccountError) { _ = try await freshSession() } catch {
            // A server that cannot be reached changes nothing.
            if case .store(let error) = error { storage.report(error) }
        }
        return state
    }

    /// Returns the user name of the last login, as the default for the next one; nil if there was none.
    ///
    /// - Throws: ``AccountError/store(_:)``.
    public func lastUserName() throws(AccountError) -> String? { try stored(storage.preferences().lastUserName.read()) }
}

extension AccountManager {
    /// Logs out the account that ``state`` shows. Removes its tokens, a kept password, the profile and a password that
    /// ``migrate(from:)`` found, and compacts the vault. <doc:KeepingAPersonLoggedIn> tells what may remain of them.
    ///
    /// - Throws: ``AccountError/store(_:)``. If ``state`` still shows the account, nothing was changed. If not, only
    ///   what follows the logout failed, and is done at the next start.
    public func logout() throws(AccountError) {
        if let id = try shownAccount() {
            try logOut(id, .byUser)
        } else {
            try change(storage.vault().removeWaiting())
            try change(storage.finishLogout())
        }
    }

    /// Records that the server ended the session that ``state`` shows, as an app learns from a request of its own. In
    /// contrast to ``logout()`` the profile stays, for the next login.
    ///
    /// - Throws: ``AccountError/store(_:)``, as ``logout()``.
    public func endedByServer() throws(AccountError) {
        if let id = try shownAccount() { try logOut(id, .endedByServer) }
    }

    /// Returns the id of the account that is shown, logged in or expired; nil if there is none.
    private func shownAccount() throws(AccountError) -> String? {
        switch reliableView() {
        case .session(let session, _): return session.accountID
        case .failed(let error): throw .store(error)
        case .ended: return nil
        }
    }

    /// Ends the session of an account, which need not be the current one.
    ///
    /// - Returns: false, and nothing is changed, if the account does not have these tokens any more.
    @discardableResult
    func logOut(_ id: String, _ reason: LogoutReason, if tokens: AccountTokens? = nil) throws(AccountError) -> Bool {
        guard try change(storage.vault().logOut(id, reason, if: tokens)) else { return false }
        try change(storage.finishLogout())
        return true
    }
}
