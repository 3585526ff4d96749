import TestSupport
import Testing
import VaultAccount

@testable import Vault

@Suite("What the preferences owe")
struct SettlingTests {
    @Test func aProfileThatTheyCanNeverHoldDoesNotKeepLaterLoginsFromSucceeding() async throws {
        let fixture = try AccountFixture()
        fixture.service.setProfile(Profile(nickname: "bell\u{7}", points: 1))
        await #expect(throws: AccountError.self) { try await fixture.loggedIn() }
        fixture.service.setProfile(Profile(nickname: "Ada", points: 1))
        #expect(try await fixture.loggedIn().state.account?.profile?.nickname == "Ada")
        fixture.service.setProfile(Profile(nickname: "bell\u{7}", points: 1))
        await #expect(throws: AccountError.self) { try await fixture.loggedIn() }
        #expect(await fixture.manager().autoLogin().isLoggedIn)
        #expect(try fixture.keychain.keys(prefix: "account/owed/") == [])
    }

    @Test func coalescedPreferencesHaveTheProfileOnTheDiskBeforeTheDebtIsForgotten() async throws {
        let fixture = try AccountFixture()
        let path = fixture.folder.file("coalesced.plist")
        let preferences = Preferences(path: path, writing: .coalesced(every: .seconds(3_600)))
        let manager = AccountManager(
            service: fixture.service, keychain: .store(fixture.keychain), preferences: .store(preferences),
            options: fixture.options())
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(try contents(path).contains("Ada".utf8))
    }
}
