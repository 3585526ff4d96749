import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Alarms of the rollback memory")
struct RollbackAlarmTests {
    private let vault: RememberedVault
    private var fixture: LogFixture { vault.fixture }

    init() throws {
        vault = try RememberedVault()
    }

    @Test func anOlderFileIsNoticed() throws {
        let older = try fixture.bytes
        try vault.open().set("a", "newer")
        let newer = try fixture.bytes
        try replace(fixture.path, with: older)
        #expect(try vault.openingCode() == .rolledBack)
        #expect(try vault.openingCode(accepting: [.diverged, .exchanged]) == .rolledBack)
        #expect(try fixture.bytes == older)
        try replace(fixture.path, with: newer)
        #expect(try vault.openingCode() == nil)
    }

    @Test func anOlderFileIsNoticedAcrossCompactions() throws {
        let older = try fixture.bytes
        try vault.open().compact()
        let compacted = try fixture.bytes
        try replace(fixture.path, with: older)
        #expect(try vault.openingCode() == .rolledBack)
        try replace(fixture.path, with: compacted)
        #expect(try vault.openingCode() == nil)
        try vault.open().compact()
        try replace(fixture.path, with: compacted)
        #expect(try vault.openingCode() == .rolledBack)
    }

    @Test(arguments: [1, 2, 5, 700]) func anotherHistoryIsNoticedHoweverLong(_ count: Int) throws {
        let diverged = try vault.elsewhere(try fixture.bytes) { log in
            for number in 0..<count { try log.set("b", "\(number)") }
        }
        try vault.open().set("a", "here")
        try replace(fixture.path, with: diverged)
        #expect(try vault.openingCode() == .diverged)
        #expect(try vault.openingCode(accepting: [.rolledBack, .exchanged]) == .diverged)
        #expect(try fixture.bytes == diverged)
    }

    @Test func anotherHistoryIsNoticedAcrossItsCompaction() throws {
        let diverged = try vault.elsewhere(try fixture.bytes) { log in
            try log.set("b", "elsewhere")
            try log.compact()
            try log.set("c", "more")
        }
        try vault.open().set("a", "here")
        try replace(fixture.path, with: diverged)
        #expect(try vault.openingCode() == .diverged)
    }

    /// The vault was moved there, and has not changed since.
    @Test func anotherVaultAtThePathOfOneThatWasOnlyReadIsNoticed() throws {
        let path = fixture.folder.file("moved.vault")
        func read() throws -> String? {
            try openApart(path, options: fixture.options(remembering: true), readKey: fixture.key).text("a")
        }
        try FileManager.default.moveItem(atPath: fixture.path, toPath: path)
        #expect(try read() == "2")
        try replace(path, with: try vault.otherVault())
        #expect(try LogError.code { _ = try read() } == .exchanged)
    }

    @Test func anotherVaultAtThePathIsNoticed() throws {
        let other = try vault.otherVault()
        try replace(fixture.path, with: other)
        #expect(try vault.openingCode() == .exchanged)
        #expect(try vault.openingCode(accepting: [.rolledBack, .diverged]) == .exchanged)
        #expect(try fixture.bytes == other)
    }

    @Test func whatIsAcceptedOnceIsRememberedFromThenOn() throws {
        let older = try fixture.bytes
        try vault.open().set("a", "newer")
        let newer = try fixture.bytes
        try replace(fixture.path, with: older)
        #expect(try vault.open(accepting: [.rolledBack]).text("a") == "2")
        #expect(try vault.openingCode() == nil)

        let diverged = try vault.elsewhere(older) { try $0.set("b", "elsewhere") }
        try vault.open().set("a", "here")
        try replace(fixture.path, with: diverged)
        #expect(try vault.open(accepting: [.diverged]).text("b") == "elsewhere")
        #expect(try vault.openingCode() == nil)
        try replace(fixture.path, with: newer)
        #expect(try vault.openingCode() == .diverged)

        try replace(fixture.path, with: try vault.otherVault())
        #expect(try vault.open(accepting: [.exchanged]).entries().isEmpty)
        #expect(try vault.openingCode() == nil)
        try replace(fixture.path, with: diverged)
        #expect(try vault.openingCode() == .exchanged)
    }

    /// The frame is not sealed: its lengths can be changed together with their checksum.
    @Test(arguments: [10, 2 << 20], [16, 4_096])
    func aLastRecordWhoseFrameWasChangedIsNoticedThoughItIsTheOneRemembered(_ size: Int, _ more: UInt64) throws {
        try vault.open().set("a", RandomBytes.array(size))
        let log = try vault.open()
        let header = log.view.withLock { $0.header }
        let file = try RecordList(fixture.path)
        let record = try #require(file.records.last)
        let frame = try #require(
            file.bytes[record.lowerBound...].withUnsafeBytes { Frame($0, vaultID: header.vaultID) })
        let changed = Frame(indexLength: frame.indexLength, payloadLength: frame.payloadLength + more)
        var bytes = file.bytes + [UInt8](repeating: 0, count: 8_192)
        let encoded = try changed.encoded(vaultID: header.vaultID)
        bytes.replaceSubrange(record.lowerBound..<record.lowerBound + encoded.count, with: encoded)
        try overwrite(fixture.path, bytes)
        let code = try vault.openingCode()
        #expect(code == .damaged || code == .rolledBack)
        #expect(try fixture.bytes == bytes)
    }

    @Test func aNewerFileOfTheSameHistoryIsNoAlarm() throws {
        let newer = try vault.elsewhere(try fixture.bytes) { log in
            for number in 0..<600 { try log.set("b", "\(number)") }
            try log.compact()
            for number in 0..<20 { try log.set("b", "\(number)") }
        }
        try replace(fixture.path, with: newer)
        #expect(try vault.open().text("b") == "19")
        // So far back that nobody can tell any more.
        let muchNewer = try vault.elsewhere(newer) { log in
            for _ in 0..<80 { try log.compact() }
        }
        try replace(fixture.path, with: muchNewer)
        #expect(try vault.open().text("b") == "19")
        #expect(try vault.openingCode() == nil)
    }
}
