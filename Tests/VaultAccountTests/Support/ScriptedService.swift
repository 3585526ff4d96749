import Vault

@testable import VaultAccount

/// A server that answers as a test says. Without a script a login succeeds, with tokens that have the user's name in
/// them.
struct ScriptedService: AccountService {
    typealias Answer<Question, Value> = @Sendable (Question) async throws(AccountServiceError) -> Value

    var login: Answer<String, AccountLogin<Profile>> = { name throws(AccountServiceError) in
        AccountLogin(accountID: "id-\(name)", tokens: ScriptedService.tokens(of: name, 1))
    }
    var refresh: Answer<AccountTokens, AccountTokens> = { _ throws(AccountServiceError) in throw .unreachable("down") }
    var validate: Answer<AccountTokens, Profile?> = { _ throws(AccountServiceError) in nil }

    static func tokens(of name: String, _ number: Int) -> AccountTokens {
        AccountTokens(access: "\(name)-access-\(number)", refresh: "\(name)-refresh-\(number)")
    }

    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile> {
        try await login(userName)
    }
    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens {
        try await refresh(tokens)
    }
    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile? { try await validate(tokens) }
}

extension AccountFixture {
    /// A manager of the fixture's accounts that talks to a server of the test's.
    func manager(
        of service: ScriptedService, _ change: (inout AccountManager<ScriptedService>.Options) -> Void = { _ in }
    ) -> AccountManager<ScriptedService> {
        var options = AccountManager<ScriptedService>.Options()
        options.followsStores = false
        options.clock = clock { _ in try await Task.sleep(for: .milliseconds(1)) }
        change(&options)
        return AccountManager(
            service: service, keychain: .store(keychain), preferences: .store(preferences), options: options)
    }
}
