import TestSupport
import Testing
import Vault
import VaultAccount

/// What the article on migration shows.
@Suite("The article on migration")
struct MigrationSnippets {
    private let fixture: AccountFixture
    private var service: FakeService { fixture.service }
    private var keychain: StoreReference { .store(fixture.keychain) }
    private var preferences: StoreReference { .store(fixture.preferences) }
    private var folder: String { fixture.folder.path }

    init() throws {
        fixture = try AccountFixture()
    }

    @Test func takesOverTwoPlainCopies() async throws {
        var complaints: [String] = []
        func log(_ text: String) { complaints.append(text) }
        try overwrite(folder + "/account.json", #"{"id": "1", "username": "ada", "token": "canary", "points": 3}"#.utf8)

        let manager = AccountManager(service: service, keychain: keychain, preferences: preferences)
        do {
            try manager.migrate(from: .file(folder + "/account.json"))
            try manager.migrate(from: .preferences(Preferences(path: folder + "/settings.plist")))
        } catch {
            log("The older account was not taken over: \(error)")
        }
        await manager.autoLogin()

        #expect(complaints.isEmpty)
        #expect(manager.state.account?.userName == "ada")
        #expect(try await manager.accessToken() == "canary")
    }

    @Test func takesOtherNames() async throws {
        let path = folder + "/account.json"
        try overwrite(path, #"{"uid": "1", "login": "ada", "jwt": "canary", "sessionCookie": "canary-2"}"#.utf8)
        let manager = fixture.manager()

        let names = AccountFieldNames(id: "uid", userName: "login", token: "jwt", dropped: ["sessionCookie"])
        try manager.migrate(from: .file(path, names: names))

        #expect(try await manager.accessToken() == "canary")
        #expect(try fixture.preferences.keys(prefix: "").allSatisfy { !$0.contains("sessionCookie") })
    }
}
