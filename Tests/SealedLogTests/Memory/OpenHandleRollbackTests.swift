import Foundation
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// The handle itself has read nothing that the older file lacks, or has opened the file anew since: only the memory
/// tells.
@Suite("An older file under an open handle")
struct OpenHandleRollbackTests {
    private let vault: RememberedVault
    private var fixture: LogFixture { vault.fixture }

    init() throws {
        vault = try RememberedVault()
    }

    /// Longer than the time between two looks at the path.
    private func waitForNextLook() {
        Thread.sleep(forTimeInterval: 0.07)
    }

    private func expectNothingIsRead(_ log: SealedLog, _ code: LogError.Code) throws {
        waitForNextLook()
        // Time and again.
        for _ in 0..<3 { #expect(try LogError.code { _ = try log.text("a") } == code) }
    }

    private func expectNothingIsWritten(_ log: SealedLog, _ code: LogError.Code) throws {
        let bytes = try fixture.bytes
        #expect(try LogError.code { try log.set("b", "x") } == code)
        #expect(try LogError.code { try log.compact() } == code)
        #expect(try fixture.bytes == bytes)
    }

    @Test(arguments: [1, 5], [true, false])
    func aHandleThatReadNothingSinceNoticesAnOlderFileToo(_ changes: Int, _ overwritesFile: Bool) throws {
        let reader = try vault.open()
        let writer = try vault.open()
        let older = try fixture.bytes
        let other = try vault.open()
        for number in 0..<changes { try other.set("a", "new \(number)") }
        if overwritesFile { try overwrite(fixture.path, older) } else { try replace(fixture.path, with: older) }
        try expectNothingIsWritten(writer, .rolledBack)
        try expectNothingIsRead(reader, .rolledBack)
        try expectNothingIsRead(writer, .rolledBack)
    }

    @Test func aHandleNoticesThatAChangeItHasOnlyReadIsGone() throws {
        let log = try vault.open()
        let older = try fixture.bytes
        try vault.open().set("a", "3")
        #expect(try log.text("a") == "3")
        try replace(fixture.path, with: older)
        try expectNothingIsWritten(log, .rolledBack)
        try expectNothingIsRead(log, .rolledBack)
    }

    @Test func aHandleThatOpenedItsFileAnewStillKnowsItsOwnChanges() throws {
        let log = try vault.open()
        let older = try fixture.bytes
        try log.set("a", "3")
        // The same bytes in another file.
        try replace(fixture.path, with: try fixture.bytes)
        waitForNextLook()
        #expect(try log.text("a") == "3")
        try replace(fixture.path, with: older)
        try expectNothingIsRead(log, .rolledBack)
        try expectNothingIsWritten(log, .rolledBack)
    }

    @Test func aHandleThatReadNothingSinceNoticesAZeroedRecord() throws {
        let reader = try vault.open()
        let writer = try vault.open()
        let other = try vault.open()
        try other.set("a", "new 1")
        try other.set("a", "new 2")
        let file = try RecordList(fixture.path)
        let zeroed = file.records[file.records.count - 2]
        var bytes = file.bytes
        for offset in zeroed { bytes[offset] = 0 }
        try overwrite(fixture.path, bytes)
        try expectNothingIsWritten(writer, .damaged)
        try expectNothingIsRead(reader, .damaged)
    }
}
