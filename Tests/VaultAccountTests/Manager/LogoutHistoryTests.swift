import Foundation
import LinuxSystem
import Sealing
import Synchronization
import TestSupport
import Testing
import Vault
import VaultAccount

@testable import SealedFormat
@testable import SealedLog

/// A vault keeps what names had before; of tokens it must not.
@Suite("What a logout leaves")
struct LogoutHistoryTests {
    private let fixture: AccountFixture

    init() throws { fixture = try AccountFixture() }

    /// The names of the vault's entries that have an earlier version, removed ones too.
    private func namesWithHistory() throws -> [String] {
        var merge = try log().view.withLock { try $0.entries() }
        var names = [String]()
        while let entry = try merge.next() {
            if !entry.earlier.isEmpty { names.append(entry.name.text) }
        }
        return names
    }

    private func log() throws -> SealedLog {
        let location = fixture.keychain.location
        return try SealedLog.open(location.vault, options: SealedLog.Options(), in: PosixFileSystem()) {
            () throws(LogError) in try KeyFile.read(location.keyFile, secretFolders: [], in: PosixFileSystem())
        }
    }

    @Test func aVaultKeepsAHistoryOfOtherNames() throws {
        for text in ["1", "2"] { try fixture.keychain.set("note", to: text) }
        #expect(try namesWithHistory() == ["note"])
    }

    @Test func neitherARenewalNorALogoutLeavesAnEarlierToken() async throws {
        let manager = try await fixture.loggedIn(fixture.options(keepsPassword: true))
        #expect(try namesWithHistory() == [])
        let sessions = try fixture.keychain.keys(prefix: "account/session/")
        let sealed = try log().view.withLock { view in
            try sessions.compactMap { try EntryName($0).flatMap { try view.find($0)?.content?.current } }.map {
                version in
                try view.store.bytes(at: version.offset, count: version.boxLength)
            }
        }
        #expect(sealed.count == 1)
        _ = try await manager.login(userName: "ada", password: "canary-password")
        #expect(try namesWithHistory() == [])
        try manager.logout()
        #expect(try namesWithHistory() == [])
        #expect(try fixture.keychain.history.versions(of: #require(sessions.first)) == [])
        // Nor the bytes, sealed as they are.
        let bytes = try contents(fixture.keychain.location.vault)
        for box in sealed { #expect(!bytes.holds(box)) }
    }
}
