import FoundationEssentials
import Synchronization
import Vault

extension AccountManager {
    /// Logs in. The login is in the vault when this returns. Another account that was logged in can be switched to.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: ``AccountError``: `rejected`, or `unreachable` after all attempts: nothing was changed. `store` if the
    ///   login could not be kept; if the state shows a login nevertheless, only the profile is missing until the next
    ///   start.
    @discardableResult
    public func login(userName: String, password: String) async throws(AccountError) -> State {
        let login = try await ask { () async throws(ServiceError) in
            try await service.login(userName: userName, password: password)
        }
        do throws(VaultError) {
            let fields = try login.profile.map { (profile) throws(VaultError) in
                try AccountPreferences.fields(of: profile)
            }
            let session = Session(
                accountID: login.accountID, userName: userName, tokens: login.tokens, loggedInAt: options.now())
            try storage.vault().logIn(session, fields: fields ?? [:], password: options.keepsPassword ? password : nil)
            try storage.settle()
        } catch { throw loaded(after: error) }
        return reload()
    }

    /// Asks the server, and again if it cannot be reached.
    func ask<Answer: Sendable>(
        _ question: () async throws(ServiceError) -> Answer
    ) async throws(AccountError) -> Answer {
        try await options.retries.run(options.sleep) { () async throws(AccountError) in
            do throws(ServiceError) { return try await question() } catch { throw AccountError(error) }
        }
    }

    /// Finds out at a program's start who is logged in, without the network. It asks the server only to renew a login
    /// that is too old with a kept password, and to log in with a password that ``migrate(from:)`` found.
    ///
    /// - Returns: the state. A server that cannot be reached and a vault that cannot be opened change nothing.
    @discardableResult
    public func autoLogin() async -> State {
        let settled = Result { () throws(VaultError) in try storage.settle() }
        let state = reload()
        // The state itself tells of a vault that cannot be opened.
        if case .failure(let error) = settled, !state.isLocked { storage.report(error) }
        switch state {
        case .loggedOut: return await waitingLogin()
        case .expired: return await renewedLogin()
        case .unknown, .loggedIn, .locked: return state
        }
    }

    /// Logs in with the user name and the password that an older program kept, if there are any.
    private func waitingLogin() async -> State {
        guard let waiting = try? storage.vault().waiting.read() else { return state }
        do { return try await login(userName: waiting.userName, password: waiting.password) } catch {
            if case .rejected = error { try? storage.vault().giveUp(waiting) }
            return reload()
        }
    }

    /// Logs in with the kept password, if there is one and the app still wants it kept.
    private func renewedLogin() async -> State {
        guard options.keepsPassword, case .session(let session) = core.withLock({ $0.view.login }) else { return state }
        do throws(AccountError) {
            let kept: String?
            do { kept = try storage.vault().password(session.accountID).read() } catch { throw .store(error) }
            guard let kept else { return state }
            do { try await login(userName: session.userName, password: kept) } catch .rejected {
                // A person may have logged in meanwhile, with a password that the server accepts.
                try logOut(session.accountID, .rejected, if: session.tokens)
            }
        } catch {
            // A server that cannot be reached changes nothing.
            if case .store(let error) = error { storage.report(error) }
        }
        return state
    }

    /// Returns the user name of the last login, as the default for the next one; nil if there was none.
    ///
    /// - Throws: ``AccountError/store(_:)``.
    public func lastUserName() throws(AccountError) -> String? {
        do { return try storage.preferences().lastUserName.read() } catch { throw .store(error) }
    }
}

extension AccountManager {
    /// Logs out the account that ``state`` shows. Removes its tokens, a kept password, the profile and a password that
    /// ``migrate(from:)`` found, and compacts the vault, so that the file no longer holds them.
    ///
    /// If another process made another account the current one, that one stays, and ``state`` then shows it.
    ///
    /// File systems, SSDs and backups may keep what the file held: a logout at the server ends the tokens themselves.
    ///
    /// - Throws: ``AccountError/store(_:)``. If ``state`` still shows the account, nothing was changed. If not, only
    ///   what follows the logout failed, and is done at the next start.
    public func logout() throws(AccountError) {
        if let id = try shownAccount() {
            try logOut(id, .byUser)
            return
        }
        do throws(VaultError) {
            let vault = try storage.vault()
            if try vault.waiting.read() != nil { try vault.waiting.remove() }
            try storage.settle()
            try vault.store.eraseRemoved()
        } catch { throw loaded(after: error) }
        load()
    }

    /// Records that the server ended the session that ``state`` shows, as an app learns from a request of its own.
    ///
    /// Tokens and a kept password are removed, as by ``logout()``; the profile stays for the next login.
    ///
    /// - Throws: ``AccountError/store(_:)``, as ``logout()``.
    public func kicked() throws(AccountError) {
        if let id = try shownAccount() { try logOut(id, .kicked) }
    }

    /// Returns the id of the account that is shown, logged in or expired; nil if there is none.
    private func shownAccount() throws(AccountError) -> String? {
        switch core.withLock({ $0.view.login }) {
        case .unread, .failed: load()
        case .session, .ended: break
        }
        switch core.withLock({ $0.view.login }) {
        case .session(let session): return session.accountID
        case .failed(let error): throw .store(error)
        case .unread, .ended: return nil
        }
    }

    /// Ends the session of an account, whether it is still the current one or not.
    ///
    /// - Parameter tokens: only if it still has these.
    /// - Returns: false if it has others, or if there is none.
    @discardableResult
    func logOut(_ id: String, _ reason: LogoutReason, if tokens: Tokens? = nil) throws(AccountError) -> Bool {
        do throws(VaultError) {
            let vault = try storage.vault()
            let isLoggedOut = try vault.logOut(id, reason, if: tokens)
            load()
            guard isLoggedOut else { return false }
            try storage.settle()
            try vault.store.eraseRemoved()
            return true
        } catch { throw loaded(after: error) }
    }
}
