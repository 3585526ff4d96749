import Foundation
import Testing
import Vault
import VaultAccount

@Suite("Several accounts")
struct SeveralAccountsTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    @Test func accountsAreSwitchedAndNeverMixed() async throws {
        let manager = try await fixture.loggedIn()
        fixture.service.setProfile(Profile(nickname: "Bob", points: 1))
        try await manager.login(userName: "b/o%b\n", password: "canary-password")
        #expect(try manager.accountIDs() == ["id-ada", "id-b/o%b\n"])
        #expect(manager.state.account?.profile?.nickname == "Bob")
        try manager.switchAccount(to: "id-ada")
        #expect(manager.state.account?.profile?.nickname == "Ada")
        #expect(try await manager.accessToken() == "canary-access-1")
        try manager.update(\.points, to: 11)
        try manager.logout()
        #expect(try manager.accountIDs() == ["id-b/o%b\n"])
        try manager.switchAccount(to: "id-b/o%b\n")
        #expect(manager.state.account?.profile == Profile(nickname: "Bob", points: 1))
        #expect(throws: AccountError.notLoggedIn(.never)) { try manager.switchAccount(to: "id-ada") }
    }

    /// Another process has made another account the current one.
    @Test func aLogoutEndsTheAccountThatIsShown() async throws {
        let ada = try await fixture.loggedIn()
        try await fixture.manager().login(userName: "bob", password: "canary-password")
        #expect(ada.state.account?.id == "id-ada")
        try ada.logout()
        #expect(try ada.accountIDs() == ["id-bob"])
        #expect(ada.state.account?.id == "id-bob")
        #expect(try fixture.preferences.keys(prefix: "account/profile/id-ada/") == [])
        #expect(try fixture.keychain.value(of: "account/ended") == nil)
    }

    @Test func aKickEndsTheAccountThatIsShown() async throws {
        let ada = try await fixture.loggedIn()
        try await fixture.manager().login(userName: "bob", password: "canary-password")
        try ada.kicked()
        #expect(try ada.accountIDs() == ["id-bob"])
        #expect(ada.state.account?.id == "id-bob")
    }

    @Test func aLogoutAfterALogoutElsewhereChangesNothing() async throws {
        let (ada, other) = (try await fixture.loggedIn(), fixture.manager())
        other.reload()
        try other.kicked()
        try ada.logout()
        #expect(ada.state == .loggedOut(.kicked))
        try ada.logout()
        #expect(fixture.manager().reload() == .loggedOut(.kicked))
        // But who leaves takes the profile along.
        #expect(try fixture.preferences.keys(prefix: "account/profile/") == [])
    }
}
