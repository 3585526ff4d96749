import Vault

extension AccountManager {
    /// The value of an `Authorization` header: `Bearer` and the access token, refreshed first if it has ended.
    ///
    /// - Throws: as ``refresh()``.
    public func authorizationHeaderValue() async throws(AccountError) -> String {
        HeaderValue.bearer(try await accessToken())
    }

    /// The value of a `Cookie` header: the access token under a cookie's name, and the account's user name under another, if one is given.
    ///
    /// - Throws: as ``refresh()``.
    public func cookieHeaderValue(
        token: String = "token", userName: String? = nil
    ) async throws(AccountError) -> String {
        let session = try await freshSession()
        let pair = HeaderValue.cookie(name: token, value: session.tokens.access)
        guard let userName else { return pair }
        return pair + "; " + HeaderValue.cookie(name: userName, value: session.userName)
    }
}
