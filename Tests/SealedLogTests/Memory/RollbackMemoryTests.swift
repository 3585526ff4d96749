import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Rollback memory")
struct RollbackMemoryTests {
    private let vault: RememberedVault
    private var fixture: LogFixture { vault.fixture }

    init() throws {
        vault = try RememberedVault()
    }

    @Test(arguments: [".seen", ".path"]) func aTornStateFileIsNoMemoryAndNoAlarm(_ ending: String) throws {
        let file = try vault.stateFile(ending)
        let whole = try contents(file)
        for length in 0..<whole.count {
            try overwrite(file, whole[..<length])
            #expect(try vault.openingCode() == nil)
            try overwrite(file, Array(whole[..<length]) + [UInt8](repeating: 0, count: whole.count - length))
            #expect(try vault.openingCode() == nil)
        }
        for offset in whole.indices {
            var changed = whole
            changed[offset] ^= 0x21
            try overwrite(file, changed)
            #expect(try vault.openingCode() == nil, "byte \(offset)")
        }
        // The next write remembers again.
        let older = try fixture.bytes
        try vault.open().set("a", "newer")
        #expect(try contents(file).count == whole.count)
        try replace(fixture.path, with: older)
        #expect(try vault.openingCode() == .rolledBack)
    }

    /// A copy of the file in its place may have the same header, and even the same inode number.
    @Test func theFingerprintOfAFlushedNameChangesWithAnyNameInItsFolder() throws {
        let log = try vault.open()
        let (file, store) = log.view.withLock { ($0.file, $0.store) }
        let former = try #require(log.memory?.fingerprint(of: file, store.locationState()))
        // Times of files advance in steps of some milliseconds.
        Clock.sleep(microseconds: 20_000)
        try overwrite(fixture.folder.file("another"), [])
        #expect(log.memory?.fingerprint(of: file, store.locationState()) != former)
    }

    /// An open log keeps its file open. Bytes in a file that nobody finds again would be no memory.
    @Test(arguments: [true, false]) func isMadeAnewIfItsFileIsRemovedOrReplacedMeanwhile(isRemoved: Bool) throws {
        let file = try vault.stateFile(".seen")
        let log = try vault.open()
        try log.set("a", "newer")
        let older = (memory: try contents(file), vault: try fixture.bytes)
        try log.set("a", "newest")
        if isRemoved { try FileManager.default.removeItem(atPath: file) } else { try replace(file, with: older.memory) }
        try log.set("b", "after that")
        try replace(fixture.path, with: older.vault)
        #expect(try vault.openingCode() == .rolledBack)
    }

    @Test func theMemoryOfAnotherKeyIsNone() throws {
        let other = try LogFixture()
        for _ in 0..<5 { try other.open(remembering: true).set("a", "x") }
        let names = try FileManager.default.contentsOfDirectory(atPath: other.memory)
        let seen = try #require(names.first { $0.hasSuffix(".seen") })
        let forged = try contents("\(other.memory)/\(seen)")
        try overwrite(try vault.stateFile(".seen"), forged)
        #expect(try vault.openingCode() == nil)
    }

    @Test func aMemoryThatCannotBeKeptFailsNothing() throws {
        try FileManager.default.removeItem(atPath: fixture.memory)
        try overwrite(fixture.memory, Array("not a folder".utf8))
        let log = try vault.open()
        try log.set("a", "x")
        try log.compact()
        #expect(try vault.open().text("a") == "x")
        #expect(try log.information().memoryIsKept == false)
    }

    @Test func theStateFilesAreForTheirOwnerAlone() throws {
        for ending in [".seen", ".path"] {
            #expect(try PosixFileSystem().status(at: vault.stateFile(ending)).mode == 0o600)
        }
        #expect(try PosixFileSystem().status(at: fixture.memory).mode == 0o700)
    }

    @Test func itIsRaisedOnlyAfterTheFlush() throws {
        let files = FaultyFileSystem()
        let log = try fixture.open(in: files, remembering: true)
        files.forgetCalls()
        try log.set("a", "x")
        let calls = files.calls
        let flush = try #require(calls.firstIndex { $0.kind == .synchronizeData && $0.path == fixture.path })
        let raise = try #require(calls.firstIndex { $0.kind == .write && $0.path.hasSuffix(".seen") })
        #expect(flush < raise)
        #expect(log.memory?.seen()?.position.sequence == 5)

        let before = try contents(vault.stateFile(".seen"))
        files.fail([.synchronizeData], with: .error(EIO))
        #expect(try LogError.code { try log.set("a", "y") } == .unavailable)
        #expect(try contents(vault.stateFile(".seen")) == before)
    }

    @Test func aCompactionRaisesItOnlyAfterTheFoldersFlush() throws {
        let files = FaultyFileSystem()
        let log = try fixture.open(in: files, remembering: true)
        files.fail([.synchronize], after: 1, with: .error(EIO))
        #expect(try LogError.code { try log.compact() } == .outcomeUnknown)
        // The notice is durable in the old file.
        #expect(log.memory?.seen()?.position.sequence == 5)
        try log.set("a", "x")
        #expect(log.memory?.seen()?.position.sequence == 7)
    }

    @Test func aFilesNameThatItKnowsToBeDurableIsNotFlushedAgain() throws {
        let files = FaultyFileSystem()
        func flushes() -> Int { files.calls.filter { $0.kind == .synchronize }.count }
        try fixture.open(in: files, remembering: true).set("a", "x")
        #expect(flushes() == 0)
        try replace(fixture.path, with: try fixture.bytes)
        let log = try fixture.open(in: files, remembering: true)
        try log.set("a", "y")
        #expect(flushes() == 1)
        try log.set("a", "z")
        try fixture.open(in: files, remembering: true).set("a", "x")
        #expect(flushes() == 1)
    }

    @Test func itNeverGoesDownByItself() throws {
        let log = try vault.open()
        let memory = try #require(log.memory)
        let high = try #require(memory.seen())
        memory.remember(LogPosition(sequence: 1, authenticator: randomAuthenticator()))
        #expect(memory.seen() == high)
        let bytes = try #require(memory.newest())
        let low = LogPosition(sequence: 1, authenticator: high.position.authenticator)
        #expect(memory.remember(low, insteadOf: bytes) && !memory.remember(high.position, insteadOf: bytes))
        #expect(memory.seen()?.position == low)
    }

    /// What is accepted is what was remembered when the alarm was raised.
    @Test func anAcceptedAlarmLeavesWhatAnotherProcessHasRememberedSince() throws {
        let older = try fixture.bytes
        let other = try vault.open()
        try other.set("a", "newer")
        let memory = try #require(other.memory)
        let position = LogPosition(sequence: 9, authenticator: randomAuthenticator())
        try replace(fixture.path, with: older)
        let files = FaultyFileSystem()
        files.watch(.synchronizeData) { _ in memory.remember(position) }
        _ = try fixture.open(in: files, remembering: true, accepting: [.rolledBack])
        #expect(memory.seen()?.position == position)
    }
}

@Suite("What a reader remembers")
struct ReaderMemoryTests {
    private let vault: RememberedVault
    private let files = FaultyFileSystem()
    private var fixture: LogFixture { vault.fixture }

    /// The machine has seen change 4; the change after it was made elsewhere.
    init() throws {
        vault = try RememberedVault()
        try vault.fixture.open().set("a", "elsewhere")
    }

    @Test func isTheNewestChangeOnceItGaveAValueOut() throws {
        let log = try vault.open()
        #expect(try vault.seen == 4)
        #expect(try log.text("a") == "elsewhere")
        #expect(log.memory?.seen()?.position.sequence == 5)
        #expect(log.memory?.seen()?.isFlushedByWriter == false)
    }

    @Test(arguments: [true, false]) func letsItNoticeThatJustThisChangeIsGone(_ isOpen: Bool) throws {
        var bytes = try fixture.bytes
        for offset in try #require(try RecordList(fixture.path).records.last) { bytes[offset] = 0 }
        let log = try vault.open()
        #expect(try log.text("a") == "elsewhere")
        try replace(fixture.path, with: bytes)
        guard isOpen else { return #expect(try vault.openingCode() == .rolledBack) }
        Thread.sleep(forTimeInterval: 0.07)
        #expect(try LogError.code { _ = try log.text("a") } == .rolledBack)
    }

    @Test func isFlushedFirstAndItsFilesNameToo() throws {
        try replace(fixture.path, with: try fixture.bytes)
        let log = try fixture.open(in: files, remembering: true)
        files.forgetCalls()
        #expect(try log.text("a") == "elsewhere")
        let calls = files.calls
        let flush = try #require(calls.firstIndex { $0.kind == .synchronizeData && $0.path == fixture.path })
        let name = try #require(calls.firstIndex { $0.kind == .synchronize && $0.path == fixture.folder.path })
        let raise = try #require(calls.firstIndex { $0.kind == .write && $0.path.hasSuffix(".seen") })
        #expect(flush < raise && name < raise)
        files.forgetCalls()
        for _ in 0..<10 { #expect(try log.text("a") == "elsewhere") }
        #expect(!files.calls.contains { $0.kind == .synchronizeData || $0.path.hasSuffix(".seen") })
    }

    @Test(arguments: [FileCall.synchronizeData, .synchronize])
    func isNothingThatCannotBeFlushed(_ call: FileCall) throws {
        try replace(fixture.path, with: try fixture.bytes)
        let log = try fixture.open(in: files, remembering: true)
        files.fail([call], with: .error(EIO))
        #expect(try LogError.code { _ = try log.text("a") } == .unavailable)
        #expect(log.memory?.seen()?.position.sequence == 4)
        #expect(try log.text("a") == "elsewhere")
        #expect(log.memory?.seen()?.position.sequence == 5)
    }

    /// After a flush that failed, a reader's own flush says nothing of what its writer wrote.
    @Test func isFlushedOnceMoreByTheNextWriter() throws {
        try fixture.open().writeWithoutFlush("a", Array("killed".utf8))
        let newest = try #require(try RecordList(fixture.path).records.last)
        #expect(try vault.open().text("a") == "killed")
        #expect(try vault.seen == 6)
        let log = try fixture.open(in: files, remembering: true)
        files.forgetCalls()
        try log.set("b", "x")
        #expect(files.calls.contains { $0.kind == .write && $0.offset == UInt64(newest.lowerBound) })
        #expect(log.memory?.seen() == RollbackMemory.Seen(position: try head(of: log), isFlushedByWriter: true))
    }

    @Test func isNoChangeThatItsWriterTakesBack() throws {
        let newest = try #require(try RecordList(fixture.path).records.last)
        let log = try fixture.open(in: files, remembering: true)
        let path = fixture.path
        // The reader asks for the lock, and gets it once the writer, whose flush has failed, is done.
        files.watch(.lock) { call in
            guard call.path == path, var bytes = try? contents(path) else { return }
            for offset in newest { bytes[offset] = 0 }
            try? overwrite(path, bytes)
        }
        #expect(try log.text("a") == "2")
        #expect(log.memory?.seen()?.position.sequence == 4)
    }

    private func head(of log: SealedLog) throws -> LogPosition {
        log.view.withLock { $0.head }
    }
}
