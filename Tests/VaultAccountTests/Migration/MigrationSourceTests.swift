import Foundation
import TestSupport
import Testing

@testable import Vault
@testable import VaultAccount

@Suite("What is taken of an older account")
struct MigrationSourceTests {
    private let fixture: AccountFixture
    private let path: String
    private let old = MemoryStore()

    init() throws {
        fixture = try AccountFixture()
        path = fixture.folder.file("account")
    }

    private var isFileThere: Bool { FileManager.default.fileExists(atPath: path) }

    @discardableResult
    private func migrate(
        _ text: String, _ names: AccountFieldNames = AccountFieldNames()
    ) throws -> AccountMigration {
        try overwrite(path, text.utf8)
        return try fixture.manager().migrate(from: .file(path, names: names))
    }

    private func error(_ body: () throws -> Void) throws -> VaultError? {
        do { try body() } catch AccountError.store(let error) { return error }
        return nil
    }

    /// What must hold after an error.
    private func expectUntouched(_ text: String) throws {
        #expect(try contents(path) == Array(text.utf8))
        #expect(try fixture.keychain.keys(prefix: "") == [])
        #expect(try fixture.preferences.keys(prefix: "") == [])
    }

    @Test(arguments: [OldMachine.json, OldMachine.list])
    func aFileWithTheWholeAccountLogsThePersonIn(_ text: String) async throws {
        let report = try migrate(text)
        #expect(report.outcome == .tokensKept && report.accountID == "id-ada")
        #expect(report.profileFields.contains("registerTime") && !report.profileFields.contains("token"))
        #expect(!isFileThere)
        let manager = fixture.manager()
        let account = try #require(await manager.autoLogin().account)
        #expect(manager.isLoggedIn)
        #expect(account.id == "id-ada" && account.userName == "ada" && account.loggedInAt == fixture.now)
        #expect(account.profile == Profile(nickname: "Ada", points: 10))
        #expect(try manager.currentSession().tokens == OldMachine.tokens)
        #expect(try manager.lastUserName() == "ada")
        #expect(fixture.service.count(.login) == 0)
        #expect(try fixture.manager().migrate(from: .file(path)).outcome == .nothingFound)
    }

    @Test func aBinaryPropertyListIsReadToo() throws {
        try overwrite(
            path,
            PropertyListSerialization.data(
                fromPropertyList: ["id": 7, "token": "canary-token"], format: .binary, options: 0))
        #expect(try fixture.manager().migrate(from: .file(path)).accountID == "7")
    }

    @Test func fieldsThatNobodyKnowsYetAreKeptForALaterProfile() throws {
        struct Later: AccountProfile {
            struct Group: Codable, Equatable { var name: String }
            var id: String
            var username: String
            var registerTime: Double
            var email: String
            var groupName: Group
        }
        try migrate(OldMachine.json)
        let later = try Later.from(primitive: .dictionary(AccountPreferences(fixture.preferences).fields(of: "id-ada")))
        #expect(
            later
                == Later(
                    id: "id-ada", username: "ada", registerTime: 1_700_000_000.5, email: "ada@example.org",
                    groupName: Later.Group(name: "g")))
        // And a change of the profile leaves them.
        try fixture.reloaded().update(\.points, to: 11)
        let after = try AccountPreferences(fixture.preferences).fields(of: "id-ada")
        #expect(Later.from(primitive: .dictionary(after)) == later)
        #expect(
            try fixture.preferences.value(of: "account/profile/id-ada/groupName")
                == .dictionary(["name": .string("g"), "level": .array([.integer(1), .boolean(true)])]))
    }

    @Test func noSecretAndNothingDroppedGetsIntoThePreferences() throws {
        var names = AccountFieldNames()
        names.dropped = ["cookie"]
        try migrate(#"{"id": "1", "token": "canary-1", "cookie": "canary-2", "password": "canary-3"}"#, names)
        #expect(try fixture.preferences.keys(prefix: "account/profile/") == ["account/profile/1/id"])
        #expect(try !contents(fixture.preferences.path).holds("canary".utf8))
    }

    @Test func namesAreTheAppsOwn() throws {
        let names = AccountFieldNames(id: "uid", userName: "login", token: "jwt", refreshToken: nil, password: nil)
        let report = try migrate(#"{"uid": 42, "login": "ada", "jwt": "canary-token", "refresh": "x"}"#, names)
        #expect(report.accountID == "42" && report.profileFields == ["login", "refresh", "uid"])
        #expect(try fixture.reloaded().currentSession().tokens == AccountTokens(access: "canary-token"))
    }

    @Test func whatIsMissingOfIdAndUserNameTheOtherStandsFor() throws {
        #expect(try migrate(#"{"username": "ada", "id": "", "token": "canary-1"}"#).accountID == "ada")
        #expect(try migrate(#"{"id": 7, "token": "canary-2"}"#).accountID == "7")
        try fixture.manager().switchAccount(to: "7")
        #expect(fixture.reloaded().state.account?.userName == "7")
    }

    @Test func secretsOfNobodyAreAnErrorAndStay() throws {
        for text in [#"{"token": "canary"}"#, #"{"password": "canary", "id": "", "username": null}"#] {
            #expect(try error { try migrate(text) }?.code == .invalid)
            try expectUntouched(text)
        }
    }

    @Test func aFieldThatIsNamedLikeASecretIsAnErrorAndStays() throws {
        let text = #"{"id": "1", "token": "canary", "sessionSecret": "canary"}"#
        let error = try error { try migrate(text) }
        #expect(error?.code == .invalid && error?.message.contains("\"sessionSecret\"") == true)
        try expectUntouched(text)
    }

    @Test func anEmptyTokenIsNone() throws {
        let report = try migrate(
            #"{"id": "1", "username": "ada", "token": "", "nickname": "Ada", "points": 1, "collectIds": []}"#)
        #expect(report.outcome == .fieldsKept)
        let manager = fixture.reloaded()
        #expect(manager.state == .loggedOut(.never))
        #expect(try manager.lastUserName() == "ada" && !isFileThere)
        #expect(try AccountPreferences(fixture.preferences).fields(of: "1")["nickname"] == .string("Ada"))
    }

    @Test func aRefreshTokenAloneIsUsedAtOnce() async throws {
        try migrate(#"{"id": "1", "refreshToken": "canary-refresh"}"#)
        let manager = fixture.reloaded()
        #expect(manager.isLoggedIn)
        // The server does not know it, but is asked.
        await #expect(throws: AccountError.self) { try await manager.accessToken() }
        #expect(fixture.service.count(.refresh) == 1)
    }

    @Test func aFileWithoutAnAccountStays() throws {
        for text in ["{}", #"{"theme": "dark"}"#, #"{"id": "", "username": "", "token": ""}"#] {
            #expect(try migrate(text).outcome == .nothingFound)
            try expectUntouched(text)
        }
    }

    @Test(arguments: [
        #"{"id": "1", "token": 17}"#, #"{"id": "1", "token": ["canary"]}"#, #"{"id": true, "token": "canary"}"#,
        #"{"id": "1", "token": "canary", "refreshToken": {"canary": 1}}"#, #"{"username": 1.5, "password": "canary"}"#,
        #"{"username": "ada", "password": 1234}"#,
    ])
    func aPartOfAWrongTypeIsAnErrorAndTheFileStays(_ text: String) throws {
        let error = try #require(try error { try migrate(text) })
        #expect(error.code == .wrongType)
        #expect(!String(reflecting: error).contains("canary"))
        try expectUntouched(text)
    }

    @Test(arguments: [
        "", "canary", "[1]", #"{"id": "1", "token": "canary""#, "<plist><string>canary</string></plist>",
        "<plist><dict><key>token</key><string>canary</dict></plist>", "bplist00canary", #"{"id": "1"} canary"#,
    ])
    func aDamagedFileIsAnErrorAndStays(_ text: String) throws {
        let error = try #require(try error { try migrate(text) })
        #expect(error.code == .damaged)
        #expect(!String(reflecting: error).contains("canary"))
        try expectUntouched(text)
    }

    @Test(arguments: [
        #"{"id": "1", "token": "canary", "nickname": "bell\u0007"}"#, #"{"id": "1", "token": "canary", "a\nb": 1}"#,

        #"{"id": "1", "token": "canary", "x": {"$nil": true}}"#,
    ])
    func aFieldThatCannotBeStoredIsAnErrorBeforeAnythingIsChanged(_ text: String) throws {
        let error = try #require(try error { try migrate(text) })
        #expect(error.code == .invalid)
        #expect(!String(reflecting: error).contains("canary"))
        try expectUntouched(text)
    }

    @Test func ofPreferencesOnlyTheNamedKeysAreTaken() throws {
        _ = old.commit(
            StoreBatch([
                "username": .string("ada"), "password": .string("canary-password"), "id": .string("a device's"),
                "theme": .string("dark"), "push": .string("canary"),
            ]))
        let report = try fixture.manager().migrate(
            from: .preferences(old, names: AccountFieldNames(id: nil, dropped: ["push"])))
        #expect(report.outcome == .passwordKept && report.accountID == "ada" && report.profileFields == [])
        #expect(old.keys(prefix: "") == ["id", "theme"])
        #expect(try fixture.manager().migrate(from: .preferences(old)).outcome == .nothingFound)
    }

    @Test func preferencesWithAUserNameAloneGiveTheDefaultForTheNextLogin() throws {
        _ = old.commit(StoreBatch(["username": .string("ada"), "password": .string("")]))
        #expect(try fixture.manager().migrate(from: .preferences(old)).outcome == .fieldsKept)
        #expect(try fixture.manager().lastUserName() == "ada")
        #expect(old.keys(prefix: "") == [])
    }

    @Test func preferencesWithATokenLogThePersonIn() throws {
        _ = old.commit(StoreBatch(["username": .string("ada"), "token": .string("canary-token")]))
        #expect(try fixture.manager().migrate(from: .preferences(old)).outcome == .tokensKept)
        #expect(fixture.reloaded().state.account?.id == "ada")
    }
}

extension AccountFixture {
    /// A manager that knows what is stored.
    func reloaded() -> AccountManager<FakeService> {
        let manager = manager()
        manager.reload()
        return manager
    }
}
