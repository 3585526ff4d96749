import FoundationEssentials
import Vault

extension AccountManager {
    /// Returns the access token, renewed first if it has ended or is about to (``Options/leeway``).
    ///
    /// The token is renewed by a refresh, or by a login with a kept password (``Options/keepsPassword``). All callers
    /// that need the account's token meanwhile share one renewal, and other processes wait for it. A caller that is
    /// cancelled leaves at once, and the renewal goes on. New tokens are in the vault when this returns.
    /// <doc:KeepingAPersonLoggedIn> tells what a crash may cost.
    ///
    /// - Throws: ``AccountError``: `rejected` if the server no longer accepts the login: the person is then logged out;
    ///   `unreachable`, `cancelled`: nothing was changed; `notLoggedIn`, `expired` if there is nothing to renew the
    ///   login with; `switched` if the account is no longer the current one; `store`.
    public func accessToken() async throws(AccountError) -> String { try await freshSession().tokens.access }

    /// Returns another access token than the one that the server has just rejected, as an app learns from a request of
    /// its own: the present one if it has been renewed since, or a renewed one.
    ///
    /// So any number of requests that fail with one token cause one refresh, also if their answers come one by one.
    ///
    /// - Throws: ``AccountError``, as ``accessToken()``.
    public func accessToken(insteadOf rejected: String) async throws(AccountError) -> String {
        try await freshSession(insteadOf: rejected).tokens.access
    }

    /// Renews the tokens although they may still hold, for example to make former ones worthless.
    ///
    /// After a request that the server has rejected use ``accessToken(insteadOf:)``, which renews each token only once.
    ///
    /// - Throws: ``AccountError``, as ``accessToken()``.
    @discardableResult
    public func refresh() async throws(AccountError) -> AccountTokens {
        try await renewed(try await presentSession()).tokens
    }

    /// Returns the value of an `Authorization` header: `Bearer` and the access token, as ``accessToken()``.
    ///
    /// - Throws: ``AccountError``, as ``accessToken()``.
    public func authorizationHeaderValue() async throws(AccountError) -> String {
        AccountHeaderValue.bearer(try await accessToken())
    }

    /// Returns the value of a `Cookie` header: the access token, as ``accessToken()``, and maybe the user name.
    ///
    /// - Parameters:
    ///   - tokenCookie: the name of the token's cookie.
    ///   - userNameCookie: the name of the user name's cookie; nil for none.
    /// - Throws: ``AccountError``, as ``accessToken()``.
    public func cookieHeaderValue(
        tokenCookie: String = "token", userNameCookie: String? = nil
    ) async throws(AccountError) -> String {
        let session = try await freshSession()
        let pair = AccountHeaderValue.cookie(name: tokenCookie, value: session.tokens.access)
        guard let userNameCookie else { return pair }
        return pair + "; " + AccountHeaderValue.cookie(name: userNameCookie, value: session.userName)
    }

    /// Asks the server whether it still accepts the login. A profile that it sends is kept: field by field, except what
    /// was changed here after the question was asked.
    ///
    /// A rejected access token is renewed, and the server is asked once more before the person is logged out.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: ``AccountError``, as ``accessToken()``.
    @discardableResult
    public func checkSession() async throws(AccountError) -> State {
        var session = try await freshSession()
        for isFirst in [true, false] {
            do throws(AccountError) {
                try await check(session)
                return state
            } catch .rejected(let error) {
                // Without a refresh token only a password helps.
                let reason = session.tokens.refresh == nil ? error : nil
                session =
                    try await isFirst && !error.isEndedByServer
                    ? renewed(session, after: reason) : ended(session, error)
            }
        }
        return state
    }

    private func check(_ session: Session) async throws(AccountError) {
        let asked = await blocking {
            Result { () throws(VaultError) in try self.storage.settledFields(of: session.accountID) }
        }
        guard let profile = try await ask(await answered(await service.validate(session.tokens))) else { return }
        try await blocking { () throws(AccountError) in
            try self.change(self.storage.keep(profile, asked: asked.get(), of: session))
        }
    }
}
