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

    func login(userName: String, password: String) async throws(ServiceError) -> Login<Profile> {
        let answer = try await server.post(
            "login", LoginRequest(userName: userName, password: password), answer: LoginAnswer.self)
        let tokens = Tokens(
            access: answer.accessToken, refresh: answer.refreshToken,
            expires: Date(timeIntervalSinceNow: answer.expiresIn))
        return Login(accountID: answer.accountID, tokens: tokens, profile: answer.profile)
    }

    func refresh(_ tokens: Tokens) async throws(ServiceError) -> Tokens {
        guard let refresh = tokens.refresh else { throw .rejected("There is no refresh token.") }
        let answer = try await server.post("refresh", RefreshRequest(refreshToken: refresh), answer: RefreshAnswer.self)
        return Tokens(
            access: answer.accessToken, refresh: answer.refreshToken,
            expires: Date(timeIntervalSinceNow: answer.expiresIn))
    }

    func validate(_ tokens: Tokens) async throws(ServiceError) -> Profile? {
        try await server.get(
            "validate", authorization: HeaderValue.bearer(tokens.access), answer: ValidateAnswer.self
        ).profile
    }
}

// The app's own requests, with the header that the account manager returns.
extension ExampleService {
    func collect(_ id: String, authorization: String) async throws(ServiceError) -> [String] {
        try await server.post(
            "collect", CollectRequest(id: id), authorization: authorization, answer: CollectAnswer.self
        ).collectIds
    }

    func logout(authorization: String) async throws(ServiceError) {
        _ = try await server.post("logout", Nothing(), authorization: authorization, answer: Nothing.self)
    }
}
