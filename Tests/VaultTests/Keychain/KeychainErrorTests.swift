import Foundation
import SealedFormat
import TestSupport
import Testing

@testable import Vault

@Suite("Errors of the keychain")
struct VaultErrorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let log: LogError
        let code: VaultError.Code
        /// What the sentence has to name: the file, and how to fix it.
        let words: [String]
        /// What a program can base a hint of its own on.
        var cause: VaultError.Cause?
        var testDescription: String { "\(log.code)" }
    }

    private static let location = VaultLocation(vault: "/v/a.vault", keyFile: "/k/a.key", rollbackMemory: nil)

    private static let cases = [
        Case(log: LogError(.missing, "/v/a.vault"), code: .noVault, words: ["/v/a.vault", "no vault"]),
        Case(log: LogError(.gone, "/v/a.vault"), code: .gone, words: ["/v/a.vault", "Mount", "restore"]),
        Case(
            log: LogError(.notAFile, "a folder"), code: .unavailable,
            words: ["/v/a.vault", "a folder", "Name the vault file"]),
        Case(log: LogError(.exists, "/v/b.vault"), code: .exists, words: ["/v/b.vault already exists"]),
        Case(
            log: LogError(.lastMember), code: .invalid, words: ["the last member of /v/a.vault", "no longer signed"],
            cause: .lastMember),
        Case(log: LogError(.exists), code: .exists, words: ["/v/a.vault already exists"]),
        Case(
            log: LogError(.notContained, "/v/b.vault"), code: .exists,
            words: ["/v/b.vault has changes", "left alone", "Merge it first"]),
        Case(
            log: LogError(.notCompared, "/v/b.vault"), code: .exists,
            words: ["might lack some of its changes", "/v/b.vault", "left alone", "Merge it first"]),
        Case(
            log: LogError(.notACopy, "/v/b.vault"), code: .exists,
            words: ["/v/b.vault is not a copy", "left alone", "Move it away"]),
        Case(
            log: LogError(.otherName, "/v/b.vault"), code: .exchanged,
            words: ["vault at /v/b.vault has another name", "was not used", "Check that the URL"],
            cause: .otherName),
        Case(log: LogError(.invalid, "it is too large"), code: .invalid, words: ["it is too large"]),
        Case(
            log: LogError(.usedUp), code: .invalid, words: ["/v/a.vault has used up", "Salvage it"],
            cause: .usedUpVault("/v/a.vault")),
        Case(
            log: LogError(.keyMissing, "/k/a.key"), code: .locked, words: ["/k/a.key", "missing", "backup"],
            cause: .keyFileMissing),
        Case(
            log: LogError(.keyUnreadable, "/k/a.key", systemError: EACCES), code: .locked,
            words: ["/k/a.key", "Permission denied", "mode"]),
        Case(
            log: LogError(.keyUnreadable, "/k/a.key", systemError: EINVAL), code: .locked,
            words: ["/k/a.key", "not a regular file"]),
        Case(log: LogError(.keyExposed, "/k/a.key"), code: .locked, words: ["chmod 600 /k/a.key"]),
        Case(
            log: LogError(.keyDamaged, "/k/a.key is a generated key file, but was mistyped"), code: .locked,
            words: ["/k/a.key", "mistyped", "backup"]),
        Case(
            log: LogError(.keyUnsuitable, "/k/a.key is blank"), code: .locked,
            words: ["/k/a.key is blank", "another", "backup"]),
        Case(
            log: LogError(.keyShared, "/k/a.key"), code: .locked,
            words: ["/k/a.key", "chmod 600", "accept it as it is"], cause: .keyFileShared),
        Case(
            log: LogError(.keyWrong), code: .locked,
            words: [
                "/k/a.key", "/v/a.vault", "is the wrong key", "has been replaced or removed",
                "Use one of the vault's current keys",
            ],
            cause: .keyWrong),
        Case(
            log: LogError(.damaged, "a page at byte 4096"), code: .damaged,
            words: ["/v/a.vault", "byte 4096", "backup", "salvage"], cause: .damagedVault("/v/a.vault")),
        Case(log: LogError(.copyDamaged, "a page at byte 4096"), code: .damaged, words: ["other copy", "byte 4096"]),
        Case(
            log: LogError(.newerFormat, "version 2"), code: .newerFormat, words: ["/v/a.vault", "version 2", "later"]),
        Case(
            log: LogError(.rolledBack, "change 3"), code: .rolledBack,
            words: ["/v/a.vault", "older", "change 3", "Accept it only if you restored it yourself"]),
        Case(
            log: LogError(.diverged, "change 3"), code: .diverged,
            words: ["/v/a.vault", "a different history", "change 3", "Accept it only if you know"]),
        Case(
            log: LogError(.exchanged, "/v/a.vault"), code: .exchanged,
            words: ["/v/a.vault", "a different vault", "Put the right one back", "Accept this one only if"]),
        Case(log: LogError(.busy, "/v/a.vault"), code: .busy, words: ["/v/a.vault", "Try again"]),
        Case(
            log: LogError(.unavailable, "write /v/a.vault", systemError: ENOSPC), code: .unavailable,
            words: ["write /v/a.vault", "No space left", "free some space"]),
        Case(
            log: LogError(.unavailable, "open /v/a.vault", systemError: EROFS), code: .unavailable,
            words: ["open /v/a.vault", "Read-only", "mounted read-only"]),
        Case(
            log: LogError(.outcomeUnknown, "flush /v/a.vault", systemError: EIO), code: .outcomeUnknown,
            words: ["/v/a.vault", "may or may not", "verify the vault"]),
        Case(
            log: LogError(.passphraseNeeded), code: .locked, words: ["/v/a.vault", "needs its passphrase"],
            cause: .passphraseNeeded),
        Case(log: LogError(.keysChanged), code: .locked, words: ["/v/a.vault", "have changed", "Try again"]),
        Case(log: LogError(.slotGone), code: .absent, words: ["/v/a.vault", "removed or replaced"]),
        Case(log: LogError(.slotExists, "key 2"), code: .exists, words: ["already opens /v/a.vault (key 2)"]),
        Case(log: LogError(.passphraseWrong), code: .locked, words: ["Wrong passphrase", "/v/a.vault"]),
        Case(
            log: LogError(.commandFailed, "it ended with status 3"), code: .locked,
            words: ["/v/a.vault", "failed", "status 3"]),
        Case(
            log: LogError(.commandFailed, "/bin/sh cannot be started", systemError: ENOENT), code: .locked,
            words: ["/bin/sh", "No such file"]),
        Case(
            log: LogError(.commandUntrusted, "cat /k/b.key"), code: .locked,
            words: ["/v/a.vault", "\"cat /k/b.key\"", "been approved", "If you trust it"], cause: .commandUntrusted),
        Case(
            log: LogError(.identityMissing), code: .locked, words: ["/v/a.vault", "Name the identity file"],
            cause: .identityMissing),
        Case(
            log: LogError(.identityUnreadable, "/k/id", systemError: EACCES), code: .locked,
            words: ["/k/id", "Permission denied"]),
        Case(log: LogError(.identityExposed, "/k/id"), code: .locked, words: ["chmod 600 /k/id"]),
        Case(
            log: LogError(.identityWrong, "none is that of a recipient"), code: .locked,
            words: ["No identity opens /v/a.vault", "none is that of a recipient"]),
        Case(
            log: LogError(.identityRemoved, "/k/id"), code: .locked,
            words: ["Your identity /k/id does not open /v/a.vault", "Ask"]),
        Case(
            log: LogError(.unpinned, "12345678"), code: .locked,
            words: ["The fingerprint of /v/a.vault is 1234-5678", "Compare it"], cause: .fingerprintUnknown),
        Case(
            log: LogError(.pinWrong, "12345678"), code: .locked,
            words: ["/v/a.vault", "1234-5678", "rotated", "Ask its owner"]),
        Case(
            log: LogError(.untrustworthy, "/s/1.trust belongs to another user"), code: .locked,
            words: ["/s/1.trust belongs to another user", "/v/a.vault"]),
        Case(
            log: LogError(.accessLogUnusable, "/s/1.access: No space left on device", systemError: ENOSPC),
            code: .unavailable, words: ["The access log of /v/a.vault", "/s/1.access: No space left on device"],
            cause: .accessLogUnusable),
        Case(
            log: LogError(.notMember, "vault-device-1-00"), code: .locked,
            words: ["does not belong to any member of /v/a.vault", "vault-device-1-00"]),
        Case(log: LogError(.notMember), code: .locked, words: ["/v/a.vault has members", "this program"]),
        Case(
            log: LogError(.deviceUnusable, "The key file /k/device.key is open to others."), code: .locked,
            words: ["/k/device.key"]),
        Case(log: LogError(.conflict), code: .busy, words: ["Try again"]),
        Case(log: LogError(.overtaken), code: .busy, words: ["Try again"]),
        Case(
            log: LogError(.unreachable, "The server does not answer."), code: .unavailable,
            words: ["The server does not answer."]),
        Case(
            log: LogError(.serverRefused, "The server refuses."), code: .unavailable, words: ["The server refuses."]),
        Case(
            log: LogError(.outcomeUnknown, "The server went away."), code: .outcomeUnknown,
            words: ["The server went away."]),
        Case(log: LogError(.outOfMemory), code: .unavailable, words: ["guarded memory"]),
    ]

    @Test(arguments: cases) func areSentencesThatNameTheFileAndHowToFixIt(_ example: Case) {
        let error = VaultError(example.log, VaultErrorTests.location)
        #expect(error.code == example.code)
        #expect(error.causes == (example.cause.map { [$0] } ?? []))
        #expect(error.systemError == example.log.systemError)
        for word in example.words { #expect(error.description.contains(word)) }
        #expect(
            error.description.first?.isUppercase == true || error.description.hasPrefix("/v/b.vault ")
                || error.description.hasPrefix("/v/a.vault "))
        #expect(error.description.last == ".")
        #expect(!error.description.contains("  ") && !error.description.contains(".."))
        #expect("\(error)" == error.description)
        #expect(!error.description.contains("--") && !error.description.contains("`vault"), "the command's own words")
    }

    /// What was just to be merged does not explain it.
    @Test func anAlarmOfAMergeNamesWhatWasTriedAndWhy() throws {
        let bad = VaultError(.damaged, "The copy is cut.", causes: [.damagedVault("/v/b.vault")]).ofMergedCopy
        let alarm = LogError(.diverged, "change 3")
        let error = try #require(
            VaultError.alarm(
                alarm, VaultErrorTests.location, tried: ["/v/b.vault", "/v/c.vault"], unusable: [("/v/b.vault", bad)]))
        #expect(
            error.message.contains(
                "Nothing was merged, because the changes that this machine has seen are not in /v/c.vault either. "
                    + "The copy is cut."))
        #expect(error.causes.dropLast() == [.unusableCopy(.damaged), .damagedVault("/v/b.vault")])
        let alone = try #require(
            VaultError.alarm(alarm, VaultErrorTests.location, tried: ["/v/b.vault"], unusable: [("/v/b.vault", bad)]))
        #expect(alone.message.contains("differs. Nothing was merged. The copy is cut."))
    }

    @Test func thereIsOneForEveryErrorBelow() {
        // A new case below does not compile here until the table has it.
        func isInTable(_ code: LogError.Code) -> Bool {
            switch code {
            case .missing, .gone, .notAFile, .exists, .invalid, .usedUp, .keyMissing, .keyUnreadable, .keyExposed,
                .keyShared,
                .keyDamaged, .keyUnsuitable, .keyWrong, .passphraseNeeded, .passphraseWrong, .commandFailed,
                .commandUntrusted, .identityMissing, .identityUnreadable, .identityExposed, .identityWrong,
                .identityRemoved,
                .slotExists, .slotGone, .keysChanged, .unpinned, .pinWrong, .damaged, .copyDamaged, .newerFormat,
                .rolledBack, .diverged, .exchanged, .busy, .unavailable, .outcomeUnknown, .conflict, .outOfMemory,
                .accessLogUnusable, .overtaken, .unreachable, .serverRefused, .notMember, .deviceUnusable,
                .lastMember, .untrustworthy, .notContained, .notCompared, .notACopy, .otherName:
                VaultErrorTests.cases.contains { $0.log.code == code }
            }
        }
        #expect(VaultErrorTests.cases.allSatisfy { isInTable($0.log.code) })
        #expect(Set(VaultErrorTests.cases.map(\.log.code)).count == 50)
    }

    @Test func theirCodesAreStableWords() {
        let codes: [VaultError.Code] = [
            .absent, .noVault, .gone, .exists, .invalid, .locked, .damaged, .newerFormat, .rolledBack, .diverged,
            .exchanged, .busy, .unavailable, .outcomeUnknown, .wrongType,
        ]
        #expect(
            codes.map(\.name) == [
                "absent", "noVault", "gone", "exists", "invalid", "locked", "damaged", "newerFormat", "rolledBack",
                "diverged", "exchanged", "busy", "unavailable", "outcomeUnknown", "wrongType",
            ])
        #expect(Set(codes).count == codes.count)
    }

    @Test func comeFromWhatHappensToFiles() throws {
        let fixture = try KeychainFixture()
        let location = fixture.location
        try fixture.open().set("a", to: "x")
        let older = try contents(location.vault)
        try fixture.open().set("a", to: "y")
        let newer = try contents(location.vault)
        func opening(accepting: Set<VaultError.Code> = []) throws -> VaultError.Code? {
            try VaultError.code { _ = try fixture.open(accepting: accepting) }
        }
        try replace(location.vault, with: older)
        #expect(try opening() == .rolledBack)
        // The byte there is random: another value would be its own now and then.
        try replace(location.vault, with: Array(newer[..<5_000]) + [newer[5_000] ^ 1] + Array(newer[5_001...]))
        #expect(try opening() == nil)
        try replace(location.vault, with: Array(newer[..<100]) + [newer[100] ^ 1] + Array(newer[101...]))
        #expect(try opening() == .damaged)
        let other = try KeychainFixture()
        try FileManager.default.createDirectory(
            atPath: other.folder.file("config"), withIntermediateDirectories: true)
        try overwrite(other.location.keyFile, try contents(location.keyFile))
        _ = try other.open()
        try replace(location.vault, with: try contents(other.location.vault))
        #expect(try opening() == .exchanged)
        #expect(try opening(accepting: [.exchanged]) == nil)
        #expect(try opening() == nil)
        try replace(location.vault, with: newer)
        #expect(try opening(accepting: [.exchanged]) == nil)
        try replace(location.vault, with: older)
        #expect(try opening(accepting: [.rolledBack]) == nil)
        #expect(try opening() == nil)
        try fixture.open().set("a", to: "z")
        try replace(location.vault, with: newer)
        #expect(try opening(accepting: [.rolledBack, .exchanged]) == .diverged)
        #expect(try opening(accepting: [.diverged]) == nil)
        #expect(try opening() == nil)
    }

    @Test func ofTheDiskSayThatWhatWasThereHolds() throws {
        let fixture = try KeychainFixture()
        let files = FaultyFileSystem()
        let keychain = try fixture.open(in: files)
        try keychain.set("a", to: "x")
        files.fail([.write], with: .short(10, ENOSPC))
        let full = try #require(throws: VaultError.self) { try keychain.set("a", to: "y") }
        #expect(full.code == .unavailable && full.systemError == ENOSPC)
        #expect(try keychain.unsafeString("a") == "x")
        files.fail([.synchronizeData], times: 2, with: .error(EIO))
        let unknown = try #require(throws: VaultError.self) { try keychain.set("a", to: "y") }
        #expect(unknown.code == .outcomeUnknown && unknown.systemError == EIO)
        #expect(try VaultError.code { try keychain.set("b", to: "z") } == .outcomeUnknown)
    }
}
