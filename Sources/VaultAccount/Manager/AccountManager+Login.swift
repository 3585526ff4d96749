import FoundationEssentials
import Synchronization
import Vault

extension AccountManager {
    /// Logs in. The login is in the vault when this returns; another account that was logged in stays, and can be switched to.
    ///
    /// - Throws: ``AccountError``: `rejected`, `unreachable` after all attempts: the state is then as it was; `store` if the login could not
    ///   be kept, or, if the state says that the person is logged in, if the profile could not: that is made good at the next start.
    @discardableResult
    public func login(userName: String, password: String) async throws(AccountError) -> State {
        let login: Login<Profile>
        do {
            login = try await options.retries.run(options.sleep) { () async throws(ServiceError) in
                try await service.login(userName: userName, password: password)
            }
        } catch { throw AccountError(error) }
        do {
            try keep(login, userName, password)
            try settle()
        } catch {
            // Memory follows what the vault has.
            reload()
            throw .store(error)
        }
        return reload()
    }

    /// Finds out at a program's start who is logged in, without the network; only a login that is too old is renewed, if the password was
    /// kept, and a login that ``migrate(from:)`` has found as a user name and a password is made.
    ///
    /// - Returns: the state. A server that cannot be reached and a vault that cannot be opened change nothing.
    @discardableResult
    public func autoLogin() async -> State {
        let debt = Result { () throws(VaultError) in try settle() }
        let state = reload()
        // A vault that cannot be opened is told by the state.
        if case .failure(let error) = debt, !state.isLocked { report(error) }
        switch state {
        case .loggedOut: return await loginThatWaits()
        case .expired: return await renewedLogin()
        case .unknown, .loggedIn, .locked: return state
        }
    }

    /// Logs in with the kept password, if there is one and the app still wants it kept.
    private func renewedLogin() async -> State {
        guard options.keepsPassword, case .session(let session) = core.withLock({ $0.known }) else { return state }
        do throws(AccountError) {
            guard let password = try keptPassword(of: session.accountID) else { return state }
            do { try await login(userName: session.userName, password: password) } catch .rejected {
                // Somebody may have logged in meanwhile, with a password that the server takes.
                try end(.rejected, of: session.accountID, if: session.tokens)
            }
        } catch {
            // A server that cannot be reached changes nothing.
            if case .store(let error) = error { report(error) }
        }
        return state
    }

    private func keptPassword(of id: String) throws(AccountError) -> String? {
        do { return try vault().password(id).read() } catch { throw .store(error) }
    }

    /// The name that was last logged in with, to be offered at the next login; nil if there was none.
    ///
    /// - Throws: ``AccountError/store(_:)``.
    public func lastUserName() throws(AccountError) -> String? {
        do { return try preferences().lastUserName.read() } catch { throw .store(error) }
    }

    /// One commit in the vault; the preferences owe the rest.
    private func keep(_ login: Login<Profile>, _ userName: String, _ password: String) throws(VaultError) {
        let session = Session(
            accountID: login.accountID, userName: userName, tokens: login.tokens, loggedInAt: options.now())
        let fields = try login.profile.map { (profile) throws(VaultError) in try AccountPreferences.fields(of: profile)
        }
        let vault = try vault()
        try vault.commit { (transaction) throws(VaultError) in
            try transaction.write(session, to: vault.session(login.accountID))
            try transaction.write(login.accountID, to: vault.current)
            try transaction.remove(vault.ended)
            try transaction.remove(vault.waiting)
            // Of a refresh of the former tokens.
            try transaction.remove(vault.turn(login.accountID))
            try transaction.write(fields ?? [:], to: vault.owed(login.accountID))
            if options.keepsPassword {
                try transaction.write(password, to: vault.password(login.accountID))
            } else {
                try transaction.remove(vault.password(login.accountID))
            }
        }
    }
}
