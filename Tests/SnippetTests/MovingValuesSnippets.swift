import FoundationEssentials
import Testing
import Vault
import VaultTesting

struct Credentials {
    var token = KeychainStorable<String>("token", movedFrom: .preferences)
}

struct Bookmark: StoredAsCodable {
    var title: String
    var visited: Date?
}

@Suite("Moving values", .temporaryStores)
struct MovingValuesSnippets {
    @Test func aValueComesAlongFromItsOldStore() throws {
        try Storable<String>("token").write("secret")
        #expect(try Credentials().token.read() == "secret")
        #expect(try Keychain.standard.keys() == ["token"])
        #expect(try Preferences.standard.keys(prefix: "") == [])
    }

    @Test func aPlainFileIsImportedOnce() throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/tokens.json"
        try Data(#"{"theme": "dark", "token": "secret"}"#.utf8).write(to: URL(filePath: path))

        let imported = try PlainFile.importValues(from: path) { key in
            key == "theme" ? .preferences : .keychain
        }

        #expect(imported == ["theme", "token"])
        #expect(try KeychainStorable<String>("token").read() == "secret")
        #expect(try Storable<Theme>("theme").read() == .dark)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try PlainFile.importValues(from: path) { _ in .keychain } == nil)
    }

    @Test func aKeyIsRenamed() throws {
        try Storable<Theme>("theme").write(.dark)

        let theme = Storable<Theme>("ui.theme", formerName: "theme")

        #expect(try theme.read() == .dark)
        #expect(try Preferences.standard.keys() == ["ui.theme"])
    }

    @Test func anEarlierTypeIsConverted() throws {
        try Storable<Int>("level").write(3)

        let level = Storable<String>("level").migrating(from: Int.self) { "level \($0)" }

        #expect(try level.read() == "level 3")
    }

    @Test func anOlderVersionOfATypeIsRead() throws {
        try Storable<[String: String]>("bookmark").write(["title": "Swift", "colour": "red"])
        let bookmark = try Storable<Bookmark>("bookmark").read()
        #expect(bookmark?.title == "Swift" && bookmark?.visited == nil)
    }
}
