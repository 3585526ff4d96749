import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// A copy of the vault as it is at one moment.
@Suite("Backups")
struct BackupTests {
    private let fixture: LogFixture
    private let files = FaultyFileSystem()
    private let log: SealedLog
    private let target: String

    init() throws {
        fixture = try LogFixture(history: .standard)
        log = try fixture.open()
        target = fixture.folder.file("backup.vault")
        for number in 0..<30 { try log.set("name \(number % 20)", "\(number)") }
        try log.remove("name 19")
    }

    private func open(_ path: String) throws -> SealedLog {
        try openApart(path, options: SealedLog.Options(), readKey: fixture.key)
    }

    @discardableResult
    private func backUp(_ log: SealedLog? = nil, replacing: Bool = false) throws -> VerificationReport {
        var unlocker = KeyFileUnlocker { [fixture] () throws(LogError) in try fixture.key() }
        return try (log ?? self.log).backUp(to: FileLocation(target, in: files), replacing: replacing, with: &unlocker)
    }

    @Test func hasAllThatTheVaultHas() throws {
        let bytes = try fixture.bytes
        let report = try backUp()
        #expect(report.entries == 19 && report.records == 31)
        #expect(try open(target).states() == log.states())
        #expect(try open(target).verify() == log.verify())
        #expect(try fixture.bytes == bytes)
        let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // It is a vault of its own from then on.
        try open(target).set("name 0", "there")
        #expect(try log.text("name 0") == "20")
    }

    @Test func doesNotReplaceAFileUnlessThatIsWanted() throws {
        try backUp()
        let former = try contents(target)
        try log.set("name 0", "later")
        #expect(try LogError.code { try backUp() } == .exists)
        #expect(try contents(target) == former)
        try backUp(replacing: true)
        #expect(try open(target).states() == log.states())
    }

    @Test func isAsTheVaultWasAtOneMomentWhileOthersWrite() throws {
        let states = try log.states()
        let left = unpublishedPath(for: target)
        let hasRun = Flag()
        files.watch(.write) { [log] call in
            guard call.path == left, !hasRun.isSet else { return }
            hasRun.set()
            do {
                for number in 0..<300 { try log.set("more \(number)", "\(number)") }
                try log.compact()
            } catch { Issue.record(error) }
        }
        try backUp()
        #expect(hasRun.isSet)
        #expect(try open(target).states() == states)
        #expect(try log.text("more 299") == "299")
    }

    @Test func ofADamagedVaultIsNotMade() throws {
        let location = try Int(RecordList(fixture.path).records[3].upperBound) - 1
        var bytes = try fixture.bytes
        bytes[location] ^= 1
        try overwrite(fixture.path, bytes)
        try overwrite(target, [1, 2, 3])
        #expect(try LogError.code { try backUp(open(fixture.path), replacing: true) } == .damaged)
        #expect(try contents(target) == [1, 2, 3])
        #expect(!FileManager.default.fileExists(atPath: unpublishedPath(for: target)))
    }

    @Test func thatFailsLeavesTheFormerOne() throws {
        try backUp()
        let former = try contents(target)
        try log.set("name 0", "later")
        for skipped in 0..<30 {
            let failures = files.failures
            files.fail([.write, .synchronizeData, .rename], after: skipped, with: .error(EIO))
            let code = try LogError.code { try backUp(replacing: true) }
            files.heal()
            guard files.failures > failures else {
                #expect(code == nil && skipped > 2)
                break
            }
            #expect(code == .unavailable)
            #expect(try contents(target) == former, "after \(skipped) calls")
            #expect(!FileManager.default.fileExists(atPath: unpublishedPath(for: target)))
        }
        #expect(try open(target).states() == log.states())
    }
}
