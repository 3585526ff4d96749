import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("A failed flush")
struct FailedFlushTests {
    private let fixture: LogFixture
    private let files = FaultyFileSystem()
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open(in: files)
        try log.set("a", "old")
    }

    @Test func thatCanBeTakenBackLeavesTheOldState() throws {
        files.fail([.synchronizeData], with: .afterwards(EIO))
        let error = #expect(throws: LogError.self) { try log.set("a", "new") }
        #expect(error?.code == .unavailable)
        #expect(error?.systemError == EIO)
        #expect(files.failures == 1)
        for reader in [log, try fixture.open()] {
            #expect(try reader.text("a") == "old")
            #expect(try reader.verify().entries == 1)
        }
        try log.set("a", "newer")
        #expect(try log.text("a") == "newer")
        #expect(try fixture.open().text("a") == "newer")
    }

    @Test func thatCannotBeTakenBackIsAnUnknownOutcomeAndEndsAllWriting() throws {
        files.fail([.synchronizeData], times: 2, with: .error(EIO))
        #expect(try LogError.code { try log.set("a", "new") } == .outcomeUnknown)
        let before = try fixture.bytes
        #expect(try LogError.code { try log.set("b", "more") } == .outcomeUnknown)
        #expect(try LogError.code { try log.remove("a") } == .outcomeUnknown)
        #expect(try LogError.code { try log.compact() } == .outcomeUnknown)
        #expect(try fixture.bytes == before)
        // Another handle starts from what is there.
        let other = try fixture.open()
        #expect(["old", "new"].contains(try other.text("a")))
        try other.verify()
        try other.set("a", "newer")
        #expect(try fixture.open().text("a") == "newer")
    }

    @Test func afterWhichEvenTheZerosCannotBeWrittenIsAnUnknownOutcome() throws {
        files.fail([.synchronizeData], with: .error(EIO))
        files.fail([.write], after: 1, with: .error(EIO))
        #expect(try LogError.code { try log.set("a", "new") } == .outcomeUnknown)
        #expect(["old", "new"].contains(try fixture.open().text("a")))
    }

    /// Sets a value in vain. The other handle follows the log to it before it is taken back, and does not return it.
    private func failToFlush(whileReading other: SealedLog) throws {
        let code = Mutex<LogError.Code?>(nil)
        files.watch(.synchronizeData) { _ in
            // At the first flush alone: at the second the record is zeros already.
            guard code.withLock({ $0 == nil }) else { return }
            do { _ = try other.text("a") } catch { code.withLock { $0 = (error as? LogError)?.code } }
        }
        files.fail([.synchronizeData], with: .error(EIO))
        #expect(try LogError.code { try log.set("a", "new") } == .unavailable)
        files.heal()
        try #require(code.withLock { $0 } == .busy)
    }

    /// The writer dies while it takes the record back: its head is there still, and the rest is zeros.
    @Test(arguments: 2..<5, [true, false])
    func ofARecordThatIsTakenBackInPartIsReliedOnByNobody(_ writes: Int, reads: Bool) throws {
        let other = try fixture.open(remembering: true, waiting: .milliseconds(20))
        let hasRead = Flag()
        files.watch(.synchronizeData) { _ in
            guard !hasRead.isSet else { return }
            hasRead.set()
            _ = try? other.get("a")
        }
        files.fail([.synchronizeData], with: .error(EIO))
        // The record, the mark, and then zeros from the record's end on.
        files.fail([.write], after: writes, times: 1_000, with: .error(EIO))
        let new = RandomBytes.array(1_500)
        let code = try LogError.code { try log.set("a", new) }
        #expect(code == (writes < 4 ? .outcomeUnknown : .unavailable))
        files.heal()
        let expected = writes == 2 ? new : Array("old".utf8)
        if reads {
            #expect(try other.get("a") == expected)
            #expect(try fixture.open(remembering: true).get("a") == expected)
        }
        try other.set("b", "x")
        for reader in [other, try fixture.open(remembering: true)] {
            #expect(try reader.get("a") == expected)
            #expect(try reader.verify().entries == 2)
        }
    }

    private func openImpatient() throws -> SealedLog { try fixture.open(waiting: .milliseconds(20)) }

    /// A reader waits for a writer whose flush takes long, whatever becomes of that flush or of the flush of the zeros,
    /// and also if its own flush would fail.
    @Test(arguments: [1, 2], [true, false])
    func ofARecordIsNeverReturned(_ failures: Int, isRemembering: Bool) throws {
        let readersFiles = FaultyFileSystem()
        let reader = try fixture.open(in: readersFiles, remembering: isRemembering)
        #expect(try reader.text("a") == "old")
        readersFiles.fail([.synchronizeData], with: .error(EIO))
        let read = Mutex<String?>(nil)
        let hasBegun = Flag()
        let isDone = DispatchSemaphore(value: 0)
        files.watch(.synchronizeData) { _ in
            guard !hasBegun.isSet else { return }
            hasBegun.set()
            Thread.detachNewThread {
                let text = try? reader.text("a")
                read.withLock { $0 = text }
                isDone.signal()
            }
            while !readersFiles.calls.contains(where: { $0.kind == .lock && $0.path == fixture.path }) {
                Thread.sleep(forTimeInterval: 0.01)
            }
            Thread.sleep(forTimeInterval: 0.3)
        }
        files.fail([.synchronizeData], times: failures, with: .error(EIO))
        let expected: LogError.Code = failures == 1 ? .unavailable : .outcomeUnknown
        #expect(try LogError.code { try log.set("a", "new") } == expected)
        files.heal()
        isDone.wait()
        #expect(read.withLock { $0 } == "old")
        readersFiles.heal()
        for reader in [reader, try fixture.open(remembering: true)] { #expect(try reader.text("a") == "old") }
        try fixture.open(remembering: true).verify()
    }

    /// A reader that dies at any of its calls leaves no memory of a record that its writer then takes back.
    @Test(arguments: 0..<30) func ofARecordThatADyingReaderHasMetIsNoRollback(_ call: Int) throws {
        #expect(try fixture.open(remembering: true).text("a") == "old")
        let readersFiles = FaultyFileSystem()
        let reader = try fixture.open(in: readersFiles, remembering: true, waiting: .milliseconds(20))
        let hasRead = Flag()
        files.watch(.synchronizeData) { _ in
            guard !hasRead.isSet else { return }
            hasRead.set()
            readersFiles.fail(Set(FileCall.allCases), after: call, times: 1_000, with: .error(EIO))
            _ = try? reader.text("a")
        }
        files.fail([.synchronizeData], with: .error(EIO))
        #expect(try LogError.code { try log.set("a", "new") } == .unavailable)
        #expect(hasRead.isSet)
        let other = try fixture.open(remembering: true)
        #expect(try other.text("a") == "old")
        try other.set("b", "later")
        try fixture.open(remembering: true).verify()
    }

    /// Another process may have read the record before it was taken back.
    @Test func ofARecordThatAnotherProcessHasSeenDoesNotLeadToDamage() throws {
        let other = try openImpatient()
        try failToFlush(whileReading: other)
        try other.set("b", "from the other one")
        for reader in [log, other, try fixture.open()] {
            #expect(try reader.text("b") == "from the other one")
            #expect(try reader.verify().entries == 2)
        }
    }

    @Test func ofARecordThatAnotherProcessHasSeenIsForgottenByItsReads() throws {
        let other = try openImpatient()
        try failToFlush(whileReading: other)
        try log.set("a", "old")
        #expect(try other.text("a") == "old")
        try other.set("b", "x")
        try log.set("c", "x")
        #expect(try fixture.open().verify().entries == 3)
    }

    /// A record of another length takes the place of the one that was seen.
    @Test(arguments: [0, 1, 16, 100, 480, 5_000])
    func ofARecordThatAnotherProcessHasSeenIsFollowedByAnyOther(_ size: Int) throws {
        let other = try openImpatient()
        try failToFlush(whileReading: other)
        let value = RandomBytes.array(size)
        try log.set("a", value)
        #expect(try other.get("a") == value)
        try other.set("b", "x")
        #expect(try fixture.open().verify().entries == 2)
    }

    /// What an ordinary reading of the same position is told by the value itself, a list has to look for.
    @Test func ofARecordThatAnotherProcessHasSeenIsForgottenByItsLists() throws {
        let other = try openImpatient()
        files.watch(.synchronizeData) { _ in _ = try? other.text("a") }
        files.fail([.synchronizeData], with: .error(EIO))
        #expect(try LogError.code { try log.set("ghost1", "new") } == .unavailable)
        files.heal()
        // Of the same length.
        try log.set("real12", "new")
        #expect(try other.entries().map(\.name.text) == ["a", "real12"])
        #expect(try other.entry(.sample("real12")) != nil)
        #expect(try other.entry(.sample("ghost1")) == nil)
    }

    /// A thread reads through the same handle while the record is flushed, and so follows it. Once the record is taken
    /// back, the handle cannot read the log again.
    @Test func ofARecordThatAThreadHasSeenAndCannotForgetIsAnUnknownOutcome() throws {
        let log = try fixture.open(in: files, waiting: .milliseconds(20))
        // Before its first record, a handle flushes the newest one that it finds.
        try log.set("a", "old")
        let flushes = Mutex(0)
        files.watch(.synchronizeData) { [files] _ in
            let flush = flushes.withLock { flushes in
                flushes += 1
                return flushes
            }
            if flush == 1 { #expect(throws: LogError.self) { try log.text("a") } }
            if flush == 2 { files.fail([.read], times: 1_000, with: .error(EIO)) }
        }
        files.fail([.synchronizeData], with: .error(EIO))
        #expect(try LogError.code { try log.set("a", "new") } == .outcomeUnknown)
        files.heal()
        #expect(try log.text("a") == "old")
        try log.set("b", "more")
        #expect(try fixture.open().verify().entries == 2)
    }

    /// Linux takes the pages for clean after a flush that failed, so the next one says nothing of them.
    @Test(arguments: 0..<8) func ofAKilledWritersRecordIsAnUnknownOutcomeAndEndsAllWriting(_ seed: Int) throws {
        let fixture = try LogFixture()
        let files = try CrashingFileSystem(fixture.folder.path)
        let first = try fixture.open(in: files)
        try first.set("a", "1")
        try first.writeWithoutFlush("killed", RandomBytes.array(20_000))
        let second = try fixture.open(in: files)
        files.failNextFlushes()
        #expect(try LogError.code { try second.set("b", "x") } == .outcomeUnknown)
        #expect(try LogError.code { try second.set("b", "x") } == .outcomeUnknown)
        // Another one writes the killed one's record once more before it relies on it.
        try fixture.open(in: files).set("b", "acknowledged")
        let next = try TemporaryFolder()
        try files.materialize(into: next.path, seed: seed)
        let log = try openApart(next.file("default.vault"), options: fixture.options(), readKey: fixture.key)
        #expect(try log.text("b") == "acknowledged")
        #expect(try log.verify().entries == 3)
    }

    /// Linux tells each descriptor once that a flush has failed. If it told a thread that reads, the one that writes
    /// would acknowledge what is not on the disk.
    @Test(arguments: ["a record", "a header", "a location"])
    func isNotHiddenFromTheWriterByAThreadThatReads(_ what: String) throws {
        #expect(try fixture.open(remembering: true).text("a") == "old")
        let path = what == "a location" ? fixture.folder.file("moved.vault") : fixture.path
        if what == "a location" { try FileManager.default.moveItem(atPath: fixture.path, toPath: path) }
        let log = try openApart(path, options: fixture.options(remembering: true), in: files, readKey: fixture.key)
        if what == "a record" { try fixture.open().set("a", "new") }
        if what == "a header" { _ = try fixture.open().compact() }
        func flushing(_ body: () throws -> Void) rethrows -> Set<Int32> {
            files.forgetCalls()
            try body()
            return Set(files.calls.filter { $0.kind == .synchronizeData && $0.path == path }.compactMap(\.descriptor))
        }
        let reading = try flushing { _ = try log.text("a") }
        let writing = try flushing { try log.set("b", "x") }
        #expect(!reading.isEmpty && !writing.isEmpty && reading.isDisjoint(with: writing))
    }

    @Test func ofTheFolderComesBeforeTheFirstAcknowledgement() throws {
        let files = FaultyFileSystem()
        let other = try fixture.open(in: files)
        files.fail([.synchronize], with: .error(EIO))
        #expect(try LogError.code { try other.set("b", "x") } == .unavailable)
        #expect(try other.text("b") == nil)
        try other.set("b", "x")
        let flushes = files.calls.filter { $0.kind == .synchronize }.map(\.path)
        #expect(flushes == [fixture.folder.path, fixture.folder.path])
        try other.set("b", "y")
        #expect(files.calls.filter { $0.kind == .synchronize }.count == 2)
    }
}
