import Foundation
import SealedFormat
import TestSupport
import Testing
import VaultTesting

@testable import Vault

/// What file synchronizations leave.
@Suite("Copies beside a vault")
struct CopiesBesideTests {
    @Test(arguments: [
        ("a.sync-conflict-20260101-120000-ABCDEFG.vault", true), ("a.sync-conflict-.vault", true),
        ("a (mia's conflicted copy 2026-01-01).vault", true), ("a (conflicted copy 2026-01-01 120000).vault", true),
        ("a.vault", false), ("a.sync-conflict-20260101-120000-ABCDEFG.key", false),
        ("b.sync-conflict-20260101-120000-ABCDEFG.vault", false), ("a (copy).vault", false),
        ("ab.sync-conflict-20260101-120000-ABCDEFG.vault", false), ("a conflicted copy.vault", false),
        ("a.old.vault", false),
    ])
    func areKnownByTheirNames(_ name: String, _ isConflict: Bool) {
        #expect(CopiesBeside.isConflict(name, of: "a.vault") == isConflict)
    }

    @Test(arguments: [
        ("team", "team.sync-conflict-20260101-120000-ABCDEFG"),
        (".vault", ".vault.sync-conflict-20260101-120000-ABCDEFG"),
    ])
    func aNameWithoutAnEndingHasThemToo(_ name: String, _ copy: String) {
        #expect(CopiesBeside.isConflict(copy, of: name))
    }

    @Test(arguments: [
        (".syncthing.a.vault.tmp", true), ("~syncthing~a.vault.tmp", true),
        (".syncthing.a.sync-conflict-20260101-120000-ABCDEFG.vault.tmp", true), (".syncthing.b.vault.tmp", false),
        ("a.vault.tmp", false), (".syncthing.a.vault", false),
    ])
    func thatAreBeingWrittenAreKnownToo(_ name: String, _ isUnfinished: Bool) {
        #expect(CopiesBeside.isUnfinished(name, of: "a.vault") == isUnfinished)
    }

    /// Another name may have equal characters: its copies are of that file.
    @Test(arguments: [
        ("Zo\u{EB}.vault", "Zoe\u{308}.sync-conflict-1.vault"), ("Zoe\u{308}.vault", "Zo\u{EB}.sync-conflict-1.vault"),
        ("a.vault", "a\u{301}.sync-conflict-1.vault"), ("a.\u{EB}", "a.sync-conflict-1.e\u{308}"),
    ])
    func areKnownByTheBytesOfTheirNames(_ name: String, _ other: String) {
        #expect(!CopiesBeside.isConflict(other, of: name))
        #expect(!CopiesBeside.isUnfinished(".syncthing.\(other).tmp", of: name))
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let copy = name[..<dot] + ".sync-conflict-1" + name[dot...]
        #expect(CopiesBeside.isConflict(String(copy), of: name))
        #expect(CopiesBeside.isUnfinished(".syncthing.\(name).tmp", of: name))
        #expect(CopiesBeside.isConflict("a (x\u{301}'s conflicted copy 1)\u{301}.vault", of: "a.vault") == false)
    }

    @Test func areFoundWhereALinkLeadsTo() throws {
        let folder = try TemporaryFolder()
        let names = ["a.sync-conflict-2.vault", "a.sync-conflict-1.vault", "a.vault", ".syncthing.a.vault.tmp"]
        for name in names { try overwrite(folder.file(name), [1]) }
        let copies = CopiesBeside(folder.file("a.vault"))
        #expect(copies.files.map { String($0.suffix(23)) } == ["a.sync-conflict-1.vault", "a.sync-conflict-2.vault"])
        #expect(copies.unfinished.count == 1 && copies.gitReference == nil && !copies.isEmpty)
        #expect(copies.without([copies.files[0]]).files == [copies.files[1]])
        #expect(CopiesBeside("postgresql://localhost/db").isEmpty)
        #expect(CopiesBeside(folder.file("b.vault")).isEmpty)
    }

    // MARK: What errors say of them

    private static func location(_ folder: borrowing TemporaryFolder) throws -> VaultLocation {
        try overwrite(folder.file("a.sync-conflict-1.vault"), [1])
        return VaultLocation(vault: folder.file("a.vault"), keyFile: folder.file("a.key"), rollbackMemory: nil)
    }

    /// Also after a merge: whoever was shut out can put both files there.
    @Test func anOlderVaultBringsBackWhatWasRemovedWhateverIsBesideIt() throws {
        let folder = try TemporaryFolder()
        let location = try CopiesBesideTests.location(folder)
        let older = LogError(.rolledBack, "change 3")
        let other = LogError(.diverged, "change 3")
        let told = "keys and members removed since then will come back."
        #expect(VaultError(older, location).message.contains(told))
        #expect(!VaultError(other, location).message.contains("come back"))
        for isMerged in [false, true] {
            for tried in [[], [folder.file("a.sync-conflict-1.vault")], ["/v/b.vault"]] {
                let alarm = VaultError.alarm(older, location, tried: tried, isMerged: isMerged)
                #expect(alarm?.message.contains(told) == true, "\(tried)")
            }
        }
    }

    @Test(arguments: [LogError.Code.damaged, .gone, .missing])
    func areNamedBeforeAVaultIsGivenUp(_ code: LogError.Code) throws {
        let folder = try TemporaryFolder()
        let location = try CopiesBesideTests.location(folder)
        let error = VaultError(LogError(code, "what is wrong"), location)
        let mention = try #require(error.message.range(of: "which may be intact: "))
        #expect(error.message[mention.upperBound...].contains("a.sync-conflict-1.vault"))
        #expect(!error.message[..<mention.lowerBound].contains("estore"))
        #expect(error.causes.first == .copyInstead(CopiesBeside(location.vault), isDamaged: code == .damaged))
        #expect(error.causes.dropFirst() == (code == .damaged ? [.damagedVault(location.vault)] : []))
    }

    @Test func salvagingDoesNotAdviseItself() throws {
        let folder = try TemporaryFolder()
        let location = try CopiesBesideTests.location(folder)
        let error = VaultError(salvaging: LogError(.damaged, "it is cut"), to: "/v/b.vault", location)
        #expect(error.code == .damaged && error.message.contains("can be salvaged: it is cut."))
        #expect(error.message.contains("a.sync-conflict-1.vault"))
        #expect(error.causes == [.copyInstead(CopiesBeside(location.vault), isDamaged: true)])
        #expect(!error.message.contains("salvage what") && error.message.hasSuffix("Restore the vault from a backup."))
    }

    @Test func whatSalvagingHasWrittenIsTheNewVault() throws {
        let folder = try TemporaryFolder()
        let location = try CopiesBesideTests.location(folder)
        let unknown = LogError(.outcomeUnknown, "flush /v", systemError: 5)
        let error = VaultError(salvaging: unknown, to: "/v/b.vault", location)
        #expect(error.code == .outcomeUnknown && error.systemError == 5)
        #expect(error.message.hasPrefix("/v/b.vault is written") && error.causes == [.unflushedCopy("/v/b.vault")])
        let busy = VaultError(salvaging: LogError(.busy, "/v/c.vault"), to: "/v/b.vault", location)
        #expect(busy.code == .busy && busy.message.contains("/v/c.vault"))
    }

    @Test func aRepositoryIsFoundAboveTheVault() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("git/deep"), withIntermediateDirectories: true)
        #expect(!CopiesBeside(folder.file("git/deep/a.vault")).isInRepository)
        try FileManager.default.createDirectory(atPath: folder.file("git/.git"), withIntermediateDirectories: false)
        let copies = CopiesBeside(folder.file("git/deep/a.vault"))
        #expect(copies.isInRepository && copies.gitReference == nil && !copies.isEmpty)
        #expect(copies.advice.contains("git repository"))
        try overwrite(folder.file("git/.git/REBASE_HEAD"), [1])
        #expect(CopiesBeside(folder.file("git/deep/a.vault")).gitReference == "REBASE_HEAD")
        #expect(CopiesBeside(folder.file("git/deep/a.vault")).advice.contains("unfinished merge"))
        #expect(!CopiesBeside(folder.file("a.vault")).isInRepository)
    }
}
