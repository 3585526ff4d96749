import Foundation
import Vault
import VaultAccount

/// Describes a person, beyond the login.
///
/// Fields of later versions are optional, so that what an older one stored can still be read.
struct Profile: AccountProfile {
    var nickname: String
    var points: Int
    var collectIds: [String]
    var avatarUrl: String?
}

/// Translates between the account manager and this server.
struct ExampleService: AccountService {
    let server: ServerConnection

    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile> {
        let answer = try await server.post(
            "login", LoginRequest(userName: userName, password: password), answer: LoginAnswer.self)
        let tokens = AccountTokens(
            access: answer.accessToken, refresh: answer.refreshToken,
            expires: Date(timeIntervalSinceNow: answer.expiresIn))
        return AccountLogin(accountID: answer.accountID, tokens: tokens, profile: answer.profile)
    }

    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens {
        guard let refresh = tokens.refresh else { throw .rejected("There is no refresh token.") }
        let answer = try await server.post("refresh", RefreshRequest(refreshToken: refresh), answer: RefreshAnswer.self)
        return AccountTokens(
            access: answer.accessToken, refresh: answer.refreshToken,
            expires: Date(timeIntervalSinceNow: answer.expiresIn))
    }

    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile? {
        try await server.get(
            "validate", authorization: AccountHeaderValue.bearer(tokens.access), answer: ValidateAnswer.self
        ).profile
    }
}

// The app's own requests, with the header that the account manager returns.
extension ExampleService {
    func collect(_ id: String, authorization: String) async throws(AccountServiceError) -> [String] {
        try await server.post(
            "collect", CollectRequest(id: id), authorization: authorization, answer: CollectAnswer.self
        ).collectIds
    }

    func logout(authorization: String) async throws(AccountServiceError) {
        _ = try await server.post("logout", Nothing(), authorization: authorization, answer: Nothing.self)
    }
}
