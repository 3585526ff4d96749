import Foundation
import TestSupport
import Testing

@testable import Vault
@testable import VaultAccount

@Suite("An older account in a keyed archive")
struct MigrationOfArchiveTests {
    private let fixture: AccountFixture
    private let path: String

    init() throws {
        fixture = try AccountFixture()
        path = fixture.folder.file("account.archive")
    }

    private var isFileThere: Bool { FileManager.default.fileExists(atPath: path) }

    @Test(arguments: ["object-binary", "object-xml"])
    func logsThePersonIn(_ name: String) async throws {
        try overwrite(path, keyedArchive(name))
        let report = try fixture.manager().migrate(from: .file(path))
        #expect(report.outcome == .tokensKept && report.accountID == "id-ada")
        #expect(Set(report.profileFields).isSuperset(of: ["registerTime", "avatar", "settings", "blog"]))
        #expect(!report.profileFields.contains("token") && !report.profileFields.contains("phone"))
        #expect(!isFileThere)
        let manager = fixture.manager()
        let account = try #require(await manager.autoLogin().account)
        #expect(manager.isLoggedIn)
        #expect(account.id == "id-ada" && account.userName == "ada")
        #expect(account.profile == Profile(nickname: "Ada", points: 10, collectIds: ["c", "ada"]))
        #expect(try manager.currentSession().tokens == OldMachine.tokens)
        #expect(fixture.service.count(.login) == 0)
        #expect(try fixture.manager().migrate(from: .file(path)).outcome == .nothingFound)
    }

    @Test(arguments: ["dictionary-binary", "dictionary-xml"])
    func mayBeADictionary(_ name: String) async throws {
        try overwrite(path, keyedArchive(name))
        let report = try fixture.manager().migrate(from: .file(path))
        #expect(report.accountID == "7" && report.profileFields == ["id", "nickname", "points", "username"])
        #expect(!isFileThere)
        let manager = fixture.manager()
        #expect(await manager.autoLogin().account?.userName == "ada")
        #expect(try manager.currentSession().tokens.access == "canary-token")
    }

    @Test func keepsTheTypesOfItsFieldsForALaterProfile() throws {
        struct Later: AccountProfile {
            struct Group: Codable, Equatable {
                var name: String
                var level: Int
                var owner: String?
            }
            var registerTime: Date
            var avatar: Data
            var home: URL
            var device: UUID
            var verified: Bool
            var ratio: Double
            var group: Group
        }
        try overwrite(path, keyedArchive("object-binary"))
        try fixture.manager().migrate(from: .file(path))
        let fields = try AccountPreferences(fixture.preferences).fields(of: "id-ada")
        let later = Later.from(primitive: .dictionary(fields))
        #expect(
            later
                == Later(
                    registerTime: Date(timeIntervalSinceReferenceDate: 721_692_800.25), avatar: Data(0..<20),
                    home: try #require(URL(string: "https://example.org/ada/")),
                    device: try #require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F")), verified: true,
                    ratio: 0.5, group: Later.Group(name: "g", level: 3)))
    }

    @Test func withoutAnAccountStaysAndTheErrorSaysWhatToDo() throws {
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: ["canary"] as NSArray, requiringSecureCoding: false)
        try overwrite(path, archive)
        #expect {
            try fixture.manager().migrate(from: .file(path))
        } throws: { error in
            guard case AccountError.store(let error) = error else { return false }
            return error.code == .damaged && error.message.contains("Read it with NSKeyedUnarchiver")
        }
        #expect(try contents(path) == Array(archive))
        #expect(try fixture.keychain.keys(prefix: "") == [])
        #expect(try fixture.preferences.keys(prefix: "") == [])
    }
}
