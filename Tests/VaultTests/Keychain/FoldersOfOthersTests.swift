import Foundation
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import Vault

/// What root would create in another user's home, where that user could not write it.
@Suite(.enabled(if: geteuid() == 0, "only root can give a folder away"))
struct FoldersOfOthersTests {
    private let folder: TemporaryFolder
    private let home: String
    /// In the home, and below folders of it that do not exist.
    private let location: VaultLocation

    init() throws {
        folder = try TemporaryFolder()
        home = folder.file("home")
        location = VaultLocation(
            vault: "\(home)/data/default.vault", keyFile: "\(home)/config/default.key", rollbackMemory: "\(home)/state")
        try #require(mkdir(home, 0o755) == 0 && chown(home, 65_534, 65_533) == 0)
    }

    private func found() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: home) }

    private func open(_ location: VaultLocation) throws { _ = try Keychain(at: location, creatingIfAbsent: true) }

    @Test func aFirstVaultLeavesNothingThere() throws {
        let error = try VaultError.error { try open(location) }
        #expect(error?.code == .unavailable && error?.message.contains("\(home) belongs to another user") == true)
        #expect(try found().isEmpty)
        var other = location
        other.vault = folder.file("own/default.vault")
        #expect(try VaultError.code { try open(other) } == .unavailable, "the key file would be there")
        #expect(try found().isEmpty)
        try #require(chown(home, 0, 0) == 0)
        try open(location)
        #expect(try Set(found()) == ["data", "config", "state"])
    }

    @Test func aVaultThatIsThereIsChanged() throws {
        try #require(chown(home, 0, 0) == 0)
        try open(location)
        for path in [home, "\(home)/data", "\(home)/config", location.vault, location.keyFile] {
            try #require(chown(path, 65_534, 65_533) == 0)
        }
        try Keychain(at: location, creatingIfAbsent: true).set("a", to: "1")
        #expect(try PosixFileSystem().status(at: location.vault).owner == 65_534)
    }

    @Test func preferencesLeaveNothingThereAndAreChangedIfTheyAreThere() throws {
        let path = "\(home)/preferences/mail.plist"
        #expect(try VaultError.code { try Preferences(path: path).set("a", .integer(1)) } == .unavailable)
        #expect(try found().isEmpty && Preferences(path: path).value(of: "a") == nil)
        try #require(chown(home, 0, 0) == 0)
        try Preferences(path: path).set("a", .integer(2))
        for path in [home, path.parentFolder, path] { try #require(chown(path, 65_534, 65_533) == 0) }
        try Preferences(path: path).set("a", .integer(3))
        #expect(try Preferences(path: path).value(of: "a") == .integer(3))
        #expect(try PosixFileSystem().status(at: path).owner == 65_534)
    }

    @Test func whatAnotherProgramReplacesIsLeftAlone() throws {
        let path = "\(home)/.gitconfig"
        try overwrite(path, [1])
        try #require(chown(path, 65_534, 65_533) == 0)
        try WrittenPath.checkParentFolder(of: path)
        #expect(try VaultError.code { try WrittenPath.checkParentFolder(of: path, isReplaced: true) } == .unavailable)
        try #require(chown(home, 0, 0) == 0)
        try WrittenPath.checkParentFolder(of: path, isReplaced: true)
    }
}
