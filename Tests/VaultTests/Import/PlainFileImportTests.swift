import Foundation
import TestSupport
import Testing

@testable import PlainStores
@testable import Vault

@Suite("The import of a plain file")
struct PlainFileImportTests {
    private let folder: TemporaryFolder
    private let path: String
    private let keychain = MemoryStore()
    private let preferences = MemoryStore()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("tokens")
    }

    private static let json = #"""
        {"token": "canary-1", "refresh": "canary-2", "theme": "dark", "points": 10, "scale": 1.5, "old": null, "junk": [1],
         "profile": {"phones": ["1", null]}}
        """#

    private static let list = """
        <plist><dict><key>token</key><string>canary-1</string><key>refresh</key><string>canary-2</string>\
        <key>theme</key><string>dark</string><key>points</key><integer>10</integer><key>scale</key><real>1.5</real>\
        <key>junk</key><array><integer>1</integer></array></dict></plist>
        """

    @discardableResult
    private func run(
        replacing: Bool = false, keychain: (any ValueStore)? = nil, files: FaultyFileSystem? = nil
    ) throws -> [String]? {
        try PlainFile.importValues(from: path, replacing: replacing, in: files ?? FaultyFileSystem()) { key in
            switch key {
            case "token", "refresh": StoreReference { keychain ?? self.keychain }
            case "junk": nil
            default: .store(preferences)
            }
        }
    }

    private var isFileThere: Bool { FileManager.default.fileExists(atPath: path) }

    @Test(arguments: [json, list])
    func bringsEachValueToItsStoreAndRemovesTheFile(_ text: String) throws {
        try overwrite(path, text.utf8)
        let imported = try #require(try run())
        #expect(imported.starts(with: ["points"]) && Set(["refresh", "token"]).isSubset(of: imported))
        #expect(!imported.contains("junk"))
        #expect(keychain.value(of: "token") == .string("canary-1"))
        #expect(keychain.keys(prefix: "") == ["refresh", "token"])
        #expect(preferences.value(of: "points") == .integer(10))
        #expect(preferences.value(of: "scale") == .real(1.5))
        #expect(preferences.value(of: "theme") == .string("dark"))
        #expect(preferences.value(of: "old") == nil)
        #expect(!isFileThere)
        #expect(try run() == nil)
    }

    @Test func readsBinaryPropertyLists() throws {
        try overwrite(
            path, PropertyListSerialization.data(fromPropertyList: ["token": "canary-1"], format: .binary, options: 0))
        try run()
        #expect(keychain.value(of: "token") == .string("canary-1"))
    }

    @Test func isFinishedByRunningItAgain() throws {
        try overwrite(path, Self.json.utf8)
        let files = FaultyFileSystem()
        files.fail([.remove], with: .error(EIO))
        #expect(try VaultError.code { try run(files: files) } == .unavailable)
        #expect(isFileThere && keychain.value(of: "token") == .string("canary-1"))
        try run()
        #expect(!isFileThere)
    }

    @Test func changesNothingIfAStoreHasAnotherValue() throws {
        try overwrite(path, Self.json.utf8)
        _ = keychain.commit(StoreBatch(["token": .string("newer-canary")]))
        let error = #expect(throws: VaultError.self) { try run() }
        #expect(error?.code == .exists)
        #expect(error?.message.contains("canary") == false)
        #expect(keychain.keys(prefix: "") == ["token"])
        #expect(preferences.keys(prefix: "").isEmpty)
        #expect(isFileThere)
    }

    @Test func changesNothingIfTheSettingsConflictAlthoughTheSecretsDoNot() throws {
        try overwrite(path, Self.json.utf8)
        _ = preferences.commit(StoreBatch(["theme": .string("light")]))
        #expect(try VaultError.code { try run() } == .exists)
        #expect(keychain.keys(prefix: "").isEmpty)
    }

    @Test func replacesWhatIsStoredIfToldSo() throws {
        try overwrite(path, Self.json.utf8)
        _ = keychain.commit(StoreBatch(["token": .string("newer")]))
        try run(replacing: true)
        #expect(keychain.value(of: "token") == .string("canary-1"))
        #expect(!isFileThere)
    }

    @Test(arguments: [
        "", "canary", "[1]", #"{"token": "canary""#, "<plist><string>canary</string></plist>", #"{"a": 1} canary"#,
    ])
    func refusesWhatItCannotReadAndLeavesIt(_ text: String) throws {
        try overwrite(path, text.utf8)
        let error = #expect(throws: VaultError.self) { try run() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("canary") == false)
        #expect(try contents(path) == Array(text.utf8))
        #expect(keychain.keys(prefix: "").isEmpty)
    }

    @Test func refusesAFileThatIsLargerThanItsLimit() throws {
        try overwrite(path, [])
        #expect(truncate(path, off_t(PreferencesFile.sizeLimit) + 1) == 0)
        let error = #expect(throws: VaultError.self) { try run() }
        #expect(error?.code == .damaged && error?.message == "Cannot import \(path): it is larger than 64 MiB.")
        #expect(isFileThere)
    }

    @Test func leavesAFileThatSomeoneChangedMeanwhile() throws {
        try overwrite(path, Self.json.utf8)
        let files = FaultyFileSystem()
        let path = path
        let store = InterruptedStore { try? overwrite(path, #"{"token": "canary-3"}"#.utf8) }
        #expect(try VaultError.code { try run(keychain: store, files: files) } == .busy)
        #expect(try contents(path) == Array(#"{"token": "canary-3"}"#.utf8))
    }
}
