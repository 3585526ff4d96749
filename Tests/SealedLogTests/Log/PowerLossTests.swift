import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// What the simulator's programs do not come to; `Tools/simulate` has the rest.
@Suite("Power loss")
struct PowerLossTests {
    /// Large enough for a tree, and longer than one step of zeros.
    @Test(arguments: 0..<16) func duringALargeTransactionKeepsAllOfItOrNothing(_ seed: Int) throws {
        var machine = try PowerLossMachine(2_000 + seed)
        for round in 0..<2 {
            let inFlight = try machine.workUntilPowerLoss(within: 6) { generator in
                (0..<400).map { ("name \(round) \($0)", generator.bytes(40)) }
            }
            try machine.checkAfterPowerLoss(inFlight)
            try machine.checkNextCommit()
        }
    }

    /// A writer that was killed between its write and its flush leaves a record that nobody knows to be durable; the
    /// next writer builds on it.
    @Test(arguments: 0..<100) func afterAKilledWriterLosesNothingEither(_ seed: Int) throws {
        var machine = try PowerLossMachine(3_000 + seed)
        try machine.checkNextCommit()
        let files = try CrashingFileSystem(machine.folder.path)
        let killed = try machine.open(in: files)
        try killed.writeWithoutFlush("killed", machine.generator.bytes(1_500))
        let other = try machine.open(in: files)
        // Power is lost at the flush of the killed one's record, at its own write, or at its own flush.
        files.losePower(afterCalls: 2 + seed % 3)
        let change = try other.change("other", to: machine.generator.bytes(1_500))
        let isAcknowledged = try LogError.code { try other.commit([change], timeout: .seconds(1)) } == nil
        // A reader's memory may have grown meanwhile.
        files.restorePower()
        _ = try machine.open(in: files)
        let next = try TemporaryFolder()
        try files.materialize(into: next.path, seed: seed)
        machine.folder = next
        let log = try machine.open(in: PosixFileSystem())
        let names = try log.entries().map(\.name.text)
        #expect([["next"], ["killed", "next"], ["killed", "next", "other"]].contains(names))
        #expect(!isAcknowledged || names.contains("other"))
        try log.verify()
    }

    /// The flush of a record fails, and so does that of the zeros over it. A part of the record may be on the disk,
    /// below zeros that are in the page cache alone.
    @Test(arguments: 0..<200) func afterZerosThatWereNotFlushedDamagesNothing(_ seed: Int) throws {
        var machine = try PowerLossMachine(4_000 + seed)
        try machine.checkNextCommit()
        let files = try CrashingFileSystem(machine.folder.path)
        let first = try machine.open(in: files)
        files.failNextFlushes(2, seed: seed)
        let failed = machine.generator.bytes(1_500)
        #expect(try LogError.code { try first.set("failed", failed) } == .outcomeUnknown)
        let second = try machine.open(in: files)
        let change = try second.change("other", to: machine.generator.bytes(1_400))
        // Power is lost at one of the calls, or after the last.
        files.losePower(afterCalls: 1 + seed % 12)
        let isAcknowledged = try LogError.code { try second.commit([change], timeout: .seconds(1)) } == nil
        for loss in 0..<4 {
            let next = try TemporaryFolder()
            try files.materialize(into: next.path, seed: 4 * seed + loss)
            machine.folder = next
            let log = try machine.open(in: PosixFileSystem())
            let names = try log.entries().map(\.name.text)
            #expect([["next"], ["failed", "next"], ["next", "other"]].contains(names))
            #expect(!isAcknowledged || names.contains("other"))
            try log.verify()
            try log.set("last", "x")
            try machine.open(in: PosixFileSystem()).verify()
        }
    }

    /// `mv` and `cp`, or `rm` and `cp`: the same header in another file, whose name is not on the disk yet.
    @Test(arguments: [true, false]) func afterTheFirstCommitIntoACopyOfTheFileLosesNothing(_ isRenamed: Bool) throws {
        let vault = try RememberedVault()
        let path = vault.fixture.path
        Thread.sleep(forTimeInterval: 0.02)
        let files = try CrashingFileSystem(vault.fixture.folder.path)
        let copy = try contents(path)
        if !isRenamed { try files.remove(path) }
        let file = try files.open(isRenamed ? path + ".copy" : path, .create)
        try copy.withRawBytes { (bytes) throws(SystemError) in try files.write(file, bytes, at: 0) }
        if isRenamed { try files.rename(path + ".copy", to: path, replacing: true) }
        try vault.fixture.open(in: files, remembering: true).set("a", "acknowledged")
        for seed in 0..<6 {
            let next = try TemporaryFolder()
            try files.materialize(into: next.path, seed: seed)
            let log = try openApart(
                next.file("default.vault"), options: vault.fixture.options(), readKey: vault.fixture.key)
            #expect(try log.text("a") == "acknowledged")
        }
    }

    /// The compacted file's name never became durable, and another compaction dies.
    @Test(arguments: 1..<14) func duringASecondCompactionIsNoRollback(_ calls: Int) throws {
        let fixture = try LogFixture()
        let files = try CrashingFileSystem(fixture.folder.path)
        let log = try fixture.open(in: files, remembering: true)
        try log.set("a", "1")
        files.failNextFolderFlush()
        #expect(try LogError.code { try log.compact() } == .outcomeUnknown)
        files.losePower(afterCalls: calls)
        _ = try? log.compact()
        for seed in 0..<4 {
            let next = try TemporaryFolder()
            try files.materialize(into: next.path, seed: seed)
            // The memory may have reached the disk whole.
            try? FileManager.default.removeItem(atPath: next.file("state"))
            try FileManager.default.copyItem(atPath: fixture.memory, toPath: next.file("state"))
            let options = SealedLog.Options(memoryFolder: next.file("state"))
            let reopened = try openApart(next.file("default.vault"), options: options, readKey: fixture.key)
            #expect(try reopened.text("a") == "1")
        }
    }

    @Test(arguments: 0..<40) func duringCreationLeavesAWholeVaultOrNone(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        let folder = try TemporaryFolder()
        let files = try CrashingFileSystem(folder.path, powerLostAtCall: seed % 20 + 1)
        // In folders of their own, as they are unless a person says otherwise.
        let path = folder.file("default.vault")
        let keyPath = folder.file("keys/default.key")
        var isAcknowledged = false
        do {
            let deadline = Deadline(after: .seconds(1))
            let made = try KeyFile.create(at: keyPath, isFolderLocked: false, in: files, until: deadline)
            if let made {
                _ = try SealedLog.create(path, key: made, label: "", options: SealedLog.Options(), in: files)
                isAcknowledged = true
            }
        } catch {
            try #require(files.isOff, "\(error)")
        }
        let next = try TemporaryFolder()
        try files.materialize(into: next.path, seed: Int.random(in: 0...Int.max, using: &generator))
        guard FileManager.default.fileExists(atPath: next.file("default.vault")) else {
            #expect(!isAcknowledged)
            return
        }
        let log = try openApart(next.file("default.vault"), options: SealedLog.Options()) { () throws(LogError) in
            try KeyFile.read(next.file("keys/default.key"), secretFolders: [], in: PosixFileSystem())
        }
        try log.set("a", "b")
        #expect(try log.verify().entries == 1)
    }
}
