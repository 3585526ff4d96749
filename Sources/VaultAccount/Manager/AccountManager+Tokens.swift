import FoundationEssentials
import Vault

extension AccountManager {
    /// Returns the access token. If it has expired or is about to (``Options/leeway``), this method renews it first.
    ///
    /// The token is renewed by a refresh, or by a login with a kept password (``Options/keepsPassword``). All callers
    /// that need the account's token at that time share one renewal, and other processes wait for it. If a caller is
    /// cancelled, its call throws immediately, and the renewal continues. New tokens are in the vault when this method
    /// returns. <doc:KeepingAPersonLoggedIn> explains the consequences of a crash.
    ///
    /// - Throws: ``AccountError``: `rejected` if the server no longer accepts the login, which logs the person out;
    ///   `unreachable`, with nothing changed; `cancelled`; `notLoggedIn`; `expired` if the login cannot be renewed;
    ///   `switched` if another account has become the current one; `store`.
    public func accessToken() async throws(AccountError) -> String {
        try await reportedAsynchronously { try await freshSession().tokens.access }
    }

    /// Returns a replacement for an access token that the server has just rejected in one of the app's own requests.
    /// Returns the current token if it differs from `rejected`, and otherwise a renewed token.
    ///
    /// A token is renewed only once, even if several requests fail with it at different times.
    ///
    /// - Throws: ``AccountError``, as ``accessToken()`` does.
    public func accessToken(insteadOf rejected: String) async throws(AccountError) -> String {
        try await reportedAsynchronously { try await freshSession(insteadOf: rejected).tokens.access }
    }

    /// Renews the tokens even if they are still valid, for example to invalidate the old ones.
    ///
    /// After a rejected request, use ``accessToken(insteadOf:)``, which renews each token only once.
    ///
    /// - Throws: ``AccountError``, as ``accessToken()`` does.
    @discardableResult
    public func refresh() async throws(AccountError) -> AccountTokens {
        try await reportedAsynchronously { try await renewed(try await presentSession()).tokens }
    }

    /// Returns the value of an `Authorization` header: `Bearer` and the access token from ``accessToken()``.
    ///
    /// - Throws: ``AccountError``, as ``accessToken()`` does.
    public func authorizationHeaderValue() async throws(AccountError) -> String {
        AccountHeaderValue.bearer(try await accessToken())
    }

    /// Returns the value of a `Cookie` header: the access token from ``accessToken()``, and optionally the user name.
    ///
    /// - Parameters:
    ///   - tokenCookie: the name of the token's cookie.
    ///   - userNameCookie: the name of the user name's cookie; nil to omit the user name.
    /// - Throws: ``AccountError``, as ``accessToken()`` does.
    public func cookieHeaderValue(
        tokenCookie: String = "token", userNameCookie: String? = nil
    ) async throws(AccountError) -> String {
        let session = try await reportedAsynchronously { try await freshSession() }
        let pair = AccountHeaderValue.cookie(name: tokenCookie, value: session.tokens.access)
        guard let userNameCookie else { return pair }
        return pair + "; " + AccountHeaderValue.cookie(name: userNameCookie, value: session.userName)
    }

    /// Checks whether the server still accepts the login. If the server sends a profile, its fields are stored, except
    /// those that the app has changed since the request.
    ///
    /// If the access token is rejected, it is renewed, and the check is repeated once before the person is logged out.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: ``AccountError``, as ``accessToken()`` does.
    @discardableResult
    public func checkSession() async throws(AccountError) -> State {
        try await reportedAsynchronously {
            var session = try await freshSession()
            for isFirst in [true, false] {
                do { return try await check(session) } catch let error as AccountServiceError where error.isRejection {
                    // If there is no refresh token, only a password can renew the session.
                    let reason = session.tokens.refresh == nil ? error : nil
                    session =
                        try await isFirst && !error.isEndedByServer
                        ? renewed(session, after: reason) : ended(session, error)
                }
            }
        }
        return state
    }

    private func check(_ session: Session) async throws {
        let baseline = await blocking { Result { try self.storage.upToDateFields(of: session.accountID) } }
        guard let profile = try await withRetries(await service.validate(session.tokens)) else { return }
        try await blocking { try self.change(self.storage.keep(profile, since: baseline.get(), of: session)) }
    }
}
