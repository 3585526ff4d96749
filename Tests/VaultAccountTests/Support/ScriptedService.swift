import Vault
import VaultAccount

/// A server that answers as a test says. Without a script a login succeeds, with tokens that have the user's name in
/// them.
struct ScriptedService: AccountService {
    typealias Answer<Question, Value> = @Sendable (Question) async throws(ServiceError) -> Value

    var login: Answer<String, Login<Profile>> = { name throws(ServiceError) in
        Login(accountID: "id-\(name)", tokens: ScriptedService.tokens(of: name, 1))
    }
    var refresh: Answer<Tokens, Tokens> = { _ throws(ServiceError) in throw .unreachable("down") }
    var validate: Answer<Tokens, Profile?> = { _ throws(ServiceError) in nil }

    static func tokens(of name: String, _ number: Int) -> Tokens {
        Tokens(access: "\(name)-access-\(number)", refresh: "\(name)-refresh-\(number)")
    }

    func login(userName: String, password: String) async throws(ServiceError) -> Login<Profile> {
        try await login(userName)
    }
    func refresh(_ tokens: Tokens) async throws(ServiceError) -> Tokens { try await refresh(tokens) }
    func validate(_ tokens: Tokens) async throws(ServiceError) -> Profile? { try await validate(tokens) }
}

extension AccountFixture {
    /// A manager of the fixture's accounts that talks to a server of the test's.
    func manager(
        of service: ScriptedService, _ change: (inout AccountManager<ScriptedService>.Options) -> Void = { _ in }
    ) -> AccountManager<ScriptedService> {
        var options = AccountManager<ScriptedService>.Options()
        options.now = { [self] in now }
        options.sleep = { _ in try await Task.sleep(for: .milliseconds(1)) }
        change(&options)
        return AccountManager(
            service: service, keychain: .store(keychain), preferences: .store(preferences), options: options)
    }
}
