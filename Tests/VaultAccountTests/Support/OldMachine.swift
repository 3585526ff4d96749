import Foundation
import LinuxSystem
import Sealing
import TestSupport

@testable import Vault
@testable import VaultAccount

/// A machine on which older code has kept an account in plain form.
struct OldMachine {
    /// How it has kept it.
    enum Copy: CaseIterable {
        /// A file with the whole account.
        case json, list
        /// User name and password in preferences of its own.
        case keys
        /// User name and tokens in the preferences that the manager uses too.
        case sharedKeys
    }

    struct Stores {
        let keychain: Keychain
        let preferences: Preferences
        let old: Preferences
    }

    let folder: TemporaryFolder
    let copy: Copy

    static let json = #"""
        {"id": "id-ada", "username": "ada", "token": "canary-token", "refreshToken": "canary-refresh",
         "password": "canary-password", "nickname": "Ada", "points": 10, "collectIds": [], "phone": null,
         "registerTime": 1700000000.5, "email": "ada@example.org", "groupName": {"name": "g", "level": [1, true]}}
        """#

    static let list = """
        <plist><dict><key>id</key><string>id-ada</string><key>username</key><string>ada</string>\
        <key>token</key><string>canary-token</string><key>refreshToken</key><string>canary-refresh</string>\
        <key>nickname</key><string>Ada</string><key>points</key><integer>10</integer><key>collectIds</key><array/>\
        <key>registerTime</key><date>2023-11-14T22:13:20Z</date></dict></plist>
        """

    static let tokens = AccountTokens(access: "canary-token", refresh: "canary-refresh")

    var path: String { folder.file("account") }

    /// Leaves the copy.
    func leave() throws {
        let stores = try stores()
        switch copy {
        case .json: try overwrite(path, Self.json.utf8)
        case .list: try overwrite(path, Self.list.utf8)
        case .keys:
            _ = try stores.old.commit(
                StoreBatch([
                    "username": .string("ada"), "password": .string("canary-password"), "theme": .string("dark"),
                ]))
        case .sharedKeys:
            _ = try stores.preferences.commit(
                StoreBatch([
                    "username": .string("ada"), "token": .string("canary-token"),
                    "refreshToken": .string("canary-refresh"), "theme": .string("dark"),
                ]))
        }
    }

    func stores(in files: any FileSystem = PosixFileSystem()) throws -> Stores {
        let location = VaultLocation(
            vault: folder.file("v/v.vault"), keyFile: folder.file("k/k.key"), rollbackMemory: folder.file("state"))
        return Stores(
            keychain: try Keychain(at: location, creatingIfAbsent: true, in: files),
            preferences: preferences("p/p.plist", files), old: preferences("old/old.plist", files))
    }

    private func preferences(_ name: String, _ files: any FileSystem) -> Preferences {
        Preferences(.success(folder.file(name)), nil, FailureLog { _, _ in }, in: files)
    }

    func manager(_ stores: Stores) -> AccountManager<FakeService> {
        var options = AccountManager<FakeService>.Options()
        // It would hold the stores, which end with their program.
        options.followsStores = false
        return AccountManager(
            service: FakeService(), keychain: .store(stores.keychain), preferences: .store(stores.preferences),
            options: options)
    }

    func source(_ stores: Stores, in files: any FileSystem = PosixFileSystem()) -> AccountSource {
        switch copy {
        case .json, .list: .file(path, in: files)
        case .keys: .keys(of: stores.old)
        case .sharedKeys: .keys(of: stores.preferences)
        }
    }

    /// Whether the whole of the secrets is in the plain copy.
    func copyIsWhole(_ stores: Stores) throws -> Bool {
        switch copy {
        case .json: try contentsOfCopy() == Array(Self.json.utf8)
        case .list: try contentsOfCopy() == Array(Self.list.utf8)
        case .keys: try stores.old.value(of: "password") == .string("canary-password")
        case .sharedKeys:
            try stores.preferences.value(of: "token") == .string("canary-token")
                && stores.preferences.value(of: "refreshToken") == .string("canary-refresh")
        }
    }

    private func contentsOfCopy() throws -> [UInt8]? {
        FileManager.default.fileExists(atPath: path) ? try contents(path) : nil
    }

    /// Whether the whole of the secrets is in the vault.
    func vaultHasAll(_ stores: Stores) throws -> Bool {
        let vault = AccountVault(stores.keychain)
        guard copy != .keys else {
            return try vault.waiting.read() == WaitingLogin(userName: "ada", password: "canary-password")
        }
        return try vault.present().session?.tokens == Self.tokens
    }

    /// The files, anywhere on the machine, that show a secret in the clear.
    func filesWithSecrets() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: folder.file(name), isDirectory: &isFolder)
            return try !isFolder.boolValue && contents(folder.file(name)).holds("canary".utf8)
        }
    }
}

extension AccountSource {
    /// A file whose calls may fail; its name is the same in whatever folder it lies.
    static func file(_ path: String, in files: any FileSystem) -> AccountSource {
        file(named: "file", AccountFieldNames()) { () throws(VaultError) in try PlainFile(path: path, in: files) }
    }

    fileprivate static func keys(of store: Preferences) -> AccountSource {
        AccountSource(name: "keys", account: preferences(store).account)
    }
}
