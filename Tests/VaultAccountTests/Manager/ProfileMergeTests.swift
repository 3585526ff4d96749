import Foundation
import TestSupport
import Testing
import Vault
import VaultAccount

/// A later version of the tests' profile: one more field.
private struct LaterProfile: AccountProfile {
    var nickname: String
    var badge: String?
}

/// A profile with a field that is nobody else's business.
private struct SecretProfile: AccountProfile {
    static let secretFields: Set = ["apiKey"]

    var nickname: String
    var apiKey: String?
}

private struct LeakyProfile: AccountProfile {
    var nickname: String
    var apiToken: String
}

private struct AllowedProfile: AccountProfile {
    static let plainFields: Set = ["apiToken"]

    var nickname: String
    var apiToken: String
}

/// A server that has a profile of any type.
private struct Server<Profile: AccountProfile>: AccountService {
    var profile: @Sendable () async -> Profile

    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile> {
        AccountLogin(accountID: "id-ada", tokens: AccountTokens(access: "canary-access"), profile: await profile())
    }
    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens {
        throw .unreachable("down")
    }
    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile? { await profile() }
}

@Suite("Profiles from several sides")
struct ProfileMergeTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    private func manager<Profile: AccountProfile>(
        _ profile: @escaping @Sendable () async -> Profile
    ) -> AccountManager<Server<Profile>> {
        AccountManager(
            service: Server(profile: profile), keychain: .store(fixture.keychain),
            preferences: .store(fixture.preferences))
    }

    private func loggedIn<Profile: AccountProfile>(_ profile: Profile) async throws -> AccountManager<Server<Profile>> {
        let manager = manager { profile }
        try await manager.login(userName: "ada", password: "canary-password")
        return manager
    }

    private func field(_ name: String) throws -> StoredValue? {
        try fixture.preferences.value(of: "account/profile/id-ada/\(name)")
    }

    // MARK: The server's answer

    @Test func anAnswerDoesNotUndoWhatWasChangedWhileItWasOnItsWay() async throws {
        let asked = Gate()
        let changed = Gate()
        var service = ScriptedService()
        service.login = { _ throws(AccountServiceError) in
            AccountLogin(
                accountID: "id-ada", tokens: AccountTokens(access: "a"), profile: Profile(nickname: "Ada", points: 1))
        }
        service.validate = { _ async throws(AccountServiceError) in
            asked.open()
            await changed.wait()
            return Profile(nickname: "Countess", points: 1, collectIds: ["1"])
        }
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        async let checked = manager.checkSession()
        await asked.wait()
        try manager.update(\.collectIds, to: ["1", "2", "3"])
        changed.open()
        let profile = try await checked.account?.profile
        #expect(profile == Profile(nickname: "Countess", points: 1, collectIds: ["1", "2", "3"]))
        #expect(fixture.manager().reload().account?.profile == profile)
    }

    @Test func aFieldThatTheServerClearedGoes() async throws {
        fixture.service.setProfile(Profile(nickname: "Ada", points: 1, phone: "555"))
        let manager = try await fixture.loggedIn()
        fixture.service.setProfile(Profile(nickname: "Ada", points: 1))
        #expect(try await manager.checkSession().account?.profile?.phone == nil)
        #expect(try field("phone") == nil)
    }

    @Test func aFieldThatTheServerClearedGoesAtANewLogin() async throws {
        fixture.service.setProfile(Profile(nickname: "Ada", points: 1, phone: "555"))
        let manager = try await fixture.loggedIn()
        try manager.endedByServer()
        fixture.service.setProfile(Profile(nickname: "Ada", points: 1))
        #expect(try await fixture.loggedIn().state.account?.profile?.phone == nil)
        #expect(try field("phone") == nil)
    }

    @Test func aFieldOfAnotherVersionStays() async throws {
        _ = try await loggedIn(LaterProfile(nickname: "Ada", badge: "gold"))
        let older = try await fixture.loggedIn()
        #expect(try await older.checkSession().isLoggedIn)
        #expect(try field("badge") == .string("gold"))
        // That version clears it.
        _ = try await loggedIn(LaterProfile(nickname: "Ada", badge: nil))
        #expect(try field("badge") == nil)
        #expect(try field("points") == .integer(10))
    }

    // MARK: Secret fields

    private func plist() throws -> String {
        String(decoding: try contents(fixture.preferences.path), as: UTF8.self)
    }

    @Test func secretFieldsAreInTheVaultAlone() async throws {
        let manager = try await loggedIn(SecretProfile(nickname: "Ada", apiKey: "canary-key"))
        #expect(manager.state.account?.profile?.apiKey == "canary-key")
        #expect(try plist().contains("Ada") && !plist().contains("canary"))
        #expect(try fixture.keychain.keys(prefix: "account/secret/") == ["account/secret/id-ada"])
        try manager.update(\.apiKey, to: "canary-other")
        try manager.updateProfile { $0.nickname = "Countess" }
        let profile = SecretProfile(nickname: "Countess", apiKey: "canary-other")
        #expect(self.manager { profile }.reload().account?.profile == profile)
        #expect(try !plist().contains("canary"))
        try manager.update(\.apiKey, to: nil)
        #expect(try fixture.keychain.keys(prefix: "account/secret/") == [])
    }

    @Test func theServerChangesAndClearsSecretFields() async throws {
        _ = try await loggedIn(SecretProfile(nickname: "Ada", apiKey: "canary-key"))
        let other = manager { SecretProfile(nickname: "Ada", apiKey: "canary-other") }
        #expect(try await other.checkSession().account?.profile?.apiKey == "canary-other")
        let none = manager { SecretProfile(nickname: "Ada", apiKey: nil) }
        #expect(try await none.checkSession().account?.profile == SecretProfile(nickname: "Ada", apiKey: nil))
        #expect(try fixture.keychain.keys(prefix: "account/secret/") == [])
    }

    @Test func aLogoutRemovesSecretFields() async throws {
        let manager = try await loggedIn(SecretProfile(nickname: "Ada", apiKey: "canary-key"))
        try manager.logout()
        #expect(try fixture.keychain.keys(prefix: "") == ["account/ended"])
    }

    @Test func secretFieldsOfAnOlderAccountMoveToTheVault() throws {
        let path = fixture.folder.file("account.json")
        try overwrite(path, #"{"id": "id-ada", "token": "canary-1", "nickname": "Ada", "apiKey": "canary-2"}"#.utf8)
        let profile = SecretProfile(nickname: "Ada", apiKey: "canary-2")
        let manager = manager { profile }
        try manager.migrate(from: .file(path))
        #expect(manager.state.account?.profile == profile)
        #expect(try !plist().contains("canary"))
    }

    @Test func aFieldThatBecameSecretLeavesThePreferences() async throws {
        _ = try fixture.preferences.commit(StoreBatch(["account/profile/id-ada/apiKey": .string("canary-key")]))
        _ = try await loggedIn(SecretProfile(nickname: "Ada", apiKey: "canary-key"))
        #expect(try !plist().contains("canary"))
    }

    @Test func aFieldThatIsNamedLikeASecretIsRefused() async throws {
        let error = await #expect(throws: AccountError.self) {
            _ = try await loggedIn(LeakyProfile(nickname: "Ada", apiToken: "canary-key"))
        }
        guard case .store(let refusal)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.code == .invalid && refusal.message.contains("\"apiToken\""))
        #expect(!refusal.message.contains("canary"))
        #expect(fixture.manager().reload() == .loggedOut(.never))
        let allowed = AllowedProfile(nickname: "Ada", apiToken: "canary-key")
        #expect(try await loggedIn(allowed).state.account?.profile == allowed)
    }
}
