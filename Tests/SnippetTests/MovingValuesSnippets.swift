import FoundationEssentials
import Testing
import Vault
import VaultTesting

struct Credentials {
    var token = KeychainStorable<String>(key: "token", movedFrom: .preferences)
}

struct Bookmark: StoredAsCodable {
    var title: String
    var visited: Date?
}

@Suite("Moving values", .temporaryStores)
struct MovingValuesSnippets {
    @Test func aValueComesAlongFromItsOldStore() throws {
        try Storable<String>(key: "token").write("secret")
        #expect(try Credentials().token.read() == "secret")
        #expect(try Keychain.standard.names() == ["token"])
        #expect(try Preferences.standard.keys(prefix: "") == [])
    }

    @Test func aPlainFileIsImportedOnce() throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/tokens.json"
        try Data(#"{"theme": "dark", "token": "secret"}"#.utf8).write(to: URL(filePath: path))

        let report = try PlainFileImport(path: path).run { key in
            key == "theme" ? .preferences : .keychain
        }

        #expect(report.keychain == ["token"] && report.preferences == ["theme"])
        #expect(try KeychainStorable<String>(key: "token").read() == "secret")
        #expect(try Storable<Theme>(key: "theme").read() == .dark)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try !PlainFileImport(path: path).run { _ in .keychain }.foundFile)
    }

    @Test func anOlderVersionOfATypeIsRead() throws {
        try Storable<[String: String]>(key: "bookmark").write(["title": "Swift", "colour": "red"])
        let bookmark = try Storable<Bookmark>(key: "bookmark").read()
        #expect(bookmark?.title == "Swift" && bookmark?.visited == nil)
    }
}
