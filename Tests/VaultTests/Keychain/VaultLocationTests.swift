import Foundation
import LinuxSystem
import TestSupport
import Testing
import Vault

@Suite("Standard locations")
struct VaultLocationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var vault: String?
        var keyFile: String?
        var environment: [String: String]
        let expected: [String?]
    }

    private static let home = ["HOME": "/home/ann"]
    private static let locationAtHome = [
        "/home/ann/.local/share/vault/default.vault", "/home/ann/.config/vault/default.key",
        "/home/ann/.local/state/vault",
    ]
    private static let cases = [
        Case(testDescription: "home alone", environment: home, expected: locationAtHome),
        Case(
            testDescription: "the folders of XDG",
            environment: ["XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"],
            expected: ["/d/vault/default.vault", "/c/vault/default.key", "/s/vault"]),
        Case(
            testDescription: "relative and empty ones count as not set",
            environment: [
                "HOME": "/home/ann", "XDG_DATA_HOME": "d", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "./s",
                "VAULT_FILE": "", "VAULT_KEY_FILE": "", "CREDENTIALS_DIRECTORY": "",
            ],
            expected: locationAtHome),
        Case(
            testDescription: "files that are named go before folders",
            environment: ["HOME": "/home/ann", "VAULT_FILE": "/f.vault", "VAULT_KEY_FILE": "f.key"],
            expected: ["/f.vault", "f.key", "/home/ann/.local/state/vault"]),
        Case(
            testDescription: "options go before all", vault: "o.vault", keyFile: "/o.key",
            environment: ["HOME": "/home/ann", "VAULT_FILE": "/f.vault", "VAULT_KEY_FILE": "/f.key"],
            expected: ["o.vault", "/o.key", "/home/ann/.local/state/vault"]),
        Case(
            testDescription: "no home at all, both named", vault: "/o.vault", keyFile: "/o.key", environment: [:],
            expected: ["/o.vault", "/o.key", nil]),
        Case(
            testDescription: "the root as home", environment: ["HOME": "/"],
            expected: ["/.local/share/vault/default.vault", "/.config/vault/default.key", "/.local/state/vault"]),
    ]

    @Test(arguments: cases) func areFoundInTheirOrder(_ example: Case) throws {
        let location = try VaultLocation.standard(
            vault: example.vault, keyFile: example.keyFile, environment: example.environment)
        #expect([location.vault, location.keyFile, location.rollbackMemory] == example.expected)
    }

    @Test func remembersInTheStandardFolderUnlessAnotherIsNamed() throws {
        let named = VaultLocation(vault: "/v", keyFile: "/k")
        #expect(try named.rollbackMemory == VaultLocation.standard(vault: "/v", keyFile: "/k").rollbackMemory)
        #expect(named.rollbackMemory == VaultLocation.standardRollbackMemory)
        #expect(VaultLocation(vault: "/v", keyFile: "/k", rollbackMemory: nil).rollbackMemory == nil)
    }

    @Test func resolvedPathsDoNotDependOnWhichFoldersAreThere() throws {
        let folder = try TemporaryFolder()
        let real = folder.file("real")
        let link = folder.file("link")
        try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
        let top = resolvedPath(real)
        for path in ["a/b/f", "a/./b//f", "x/../a/b/f"] {
            #expect(resolvedPath(link + "/" + path) == top + "/a/b/f")
        }
        try FileManager.default.createDirectory(atPath: real + "/a/b", withIntermediateDirectories: true)
        #expect(resolvedPath(link + "/a/b/f") == top + "/a/b/f")
        #expect(resolvedPath("no/such/f") == resolvedPath(".") + "/no/such/f")
        #expect(resolvedPath("/no-such-folder/f") == "/no-such-folder/f")
        #expect(resolvedPath("/no-such-folder") == "/no-such-folder")
    }

    @Test func pathsArePartedAtTheirSlashesWhateverFollows() {
        #expect("/x/\u{301}a".parentFolder == "/x")
        #expect("/x/\u{301}a".lastPathComponent == "\u{301}a")
        #expect("/a".parentFolder == "/" && "a".parentFolder == ".")
    }

    @Test func withoutAHomeSayWhatToName() throws {
        let cases: [(vault: String?, words: [String])] = [
            (nil, ["HOME", "vault", "VAULT_FILE"]), ("/v", ["HOME", "key file", "VAULT_KEY_FILE"]),
        ]
        for (vault, words) in cases {
            let error = try #require(throws: VaultError.self) {
                try VaultLocation.standard(vault: vault, environment: ["HOME": "relative"])
            }
            #expect(error.code == .unavailable)
            #expect(error.causes == [.homeUnset])
            for word in words { #expect(error.description.contains(word)) }
        }
    }

    @Test func theCredentialsOfTheServiceManagerGoBeforeTheHome() throws {
        let folder = try TemporaryFolder()
        let environment = ["HOME": "/home/ann", "CREDENTIALS_DIRECTORY": folder.path]
        #expect(
            try VaultLocation.standard(environment: environment).keyFile == "/home/ann/.config/vault/default.key")
        try overwrite(folder.file("vault.key"), [1])
        #expect(try VaultLocation.standard(environment: environment).keyFile == folder.file("vault.key"))
        let named = environment.merging(["VAULT_KEY_FILE": "/k"]) { $1 }
        #expect(try VaultLocation.standard(environment: named).keyFile == "/k")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make root's files"))
    func aCredentialMayBeReadableByOthersBelowItsFolderAlone() throws {
        let fixture = try KeychainFixture()
        let credentials = fixture.folder.file("credentials")
        try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
        try overwrite(credentials + "/vault.key", Array("a secret of the service manager".utf8))
        try setMode(credentials + "/vault.key", 0o440)
        let environment = ["HOME": fixture.folder.path, "CREDENTIALS_DIRECTORY": credentials]
        let location = try VaultLocation.standard(environment: environment)
        try Keychain(at: location, creatingIfAbsent: true).set("a", to: "x")
        let elsewhere = VaultLocation(vault: location.vault, keyFile: location.keyFile, rollbackMemory: nil)
        #expect(
            try VaultError.code { _ = try Keychain(at: elsewhere, creatingIfAbsent: false, in: FaultyFileSystem()) }
                == .locked
        )
    }
}
