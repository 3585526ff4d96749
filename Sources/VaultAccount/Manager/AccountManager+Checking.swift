import Vault

extension AccountManager {
    /// Asks the server whether it still takes the login.
    ///
    /// A rejection logs the person out; a server that cannot be reached changes nothing. A profile that the server tells is kept.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: ``AccountError``: `rejected`, `unreachable`, `notLoggedIn`, `expired`, `store`.
    @discardableResult
    public func checkSession() async throws(AccountError) -> State {
        var session = try currentSession()
        if session.tokens.isExpired(at: options.now()) {
            try await refresh()
            session = try currentSession()
        }
        let profile: Profile?
        do throws(ServiceError) {
            let tokens = session.tokens
            profile = try await options.retries.run(options.sleep) { () async throws(ServiceError) in
                try await service.validate(tokens)
            }
        } catch {
            guard error.kind == .rejected else { throw AccountError(error) }
            // Another process may have newer tokens than those that were asked about.
            guard try end(error.logoutReason, of: session.accountID, if: session.tokens) else { return state }
            throw .rejected(error)
        }
        guard let profile else { return state }
        do throws(VaultError) {
            try preferences().write(AccountPreferences.fields(of: profile), of: session.accountID)
        } catch { throw .store(error) }
        return reload()
    }
}
