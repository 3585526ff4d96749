import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Its payload is in the file before its record's head is.
@Suite("A transaction of more than a mebibyte")
struct LargeTransactionTests {
    private let fixture: LogFixture
    private let files = FaultyFileSystem()
    private let log: SealedLog
    private let wishes: [Wish]
    private let after: [String: [UInt8]]

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open(in: files, remembering: true)
        try log.set("name 7", "old")
        let wishes: [Wish] = (0..<600).map { ("name \($0)", RandomBytes.array(4_000)) }
        after = Dictionary(uniqueKeysWithValues: wishes.map { ($0.name, $0.value ?? []) })
        self.wishes = wishes.shuffled()
    }

    private static let before = ["name 7": Array("old".utf8)]

    /// Lets the log end at one of these places within a sector.
    private func end(at tree: Range<UInt64>) throws -> UInt64 {
        while true {
            let end = log.view.withLock { $0.end }
            if tree.contains(end % Limits.sector) { return end }
            try log.set("name 7", "old")
        }
    }

    private func expect(_ state: [String: [UInt8]], _ log: SealedLog) throws {
        #expect(try log.state() == state)
        #expect(try log.verify().entries == state.count)
    }

    @Test func isWrittenOnTheWayAndItsHeadLast() throws {
        let end = try end(at: 0..<192)
        files.forgetCalls()
        try log.make(wishes)
        try expect(after, log)
        try expect(after, fixture.open(remembering: true))
        let writes = files.calls.filter { $0.kind == .write && $0.offset >= end }
        let head = try #require(writes.last)
        #expect(writes.count > 1 && head.offset == end && head.count < 2 * Int(Limits.sector))
        // Where the head ends, the payload's own sectors begin.
        #expect(writes.first?.offset == head.offset + UInt64(head.count))
        #expect((head.offset + UInt64(head.count)).isMultiple(of: Limits.sector))
    }

    /// - Parameter writes: those that succeed. The transaction needs two at least.
    @Test(arguments: 0..<5) func whoseWriteFailsChangesNothing(_ writes: Int) throws {
        // The next record does not reach what was written.
        _ = try end(at: 0..<192)
        files.fail([.write], after: writes, with: writes % 2 == 0 ? .error(ENOSPC) : .short(1_000, ENOSPC))
        let code = try LogError.code { try log.make(wishes) }
        guard let code else { return #expect(writes > 1) }
        #expect(code == .unavailable && files.failures == 1)
        try expect(Self.before, log)
        try expect(Self.before, fixture.open(remembering: true))
        try log.set("b", "next")
        let (store, end) = log.view.withLock { ($0.store, $0.end) }
        #expect(try store.asFile.isZero(end..<store.size()))
        try log.make(wishes)
        try expect(after.merging(["b": Array("next".utf8)]) { $1 }, fixture.open(remembering: true))
    }

    /// The others find what it left.
    @Test(arguments: 0..<4) func whoseWriterIsKilledChangesNothing(_ writes: Int) throws {
        files.fail([.write, .synchronizeData], after: writes, times: 1_000, with: .error(EIO))
        #expect(throws: LogError.self) { try log.make(wishes) }
        let other = try fixture.open(remembering: true)
        try expect(Self.before, other)
        // Of any size: some end where the payload began.
        for size in [0, 100, 300, 600] { try other.set("size \(size)", RandomBytes.array(size)) }
        try other.make(wishes)
        let third = try fixture.open(remembering: true)
        #expect(try third.verify().entries == 604)
    }

    @Test func whoseFlushFailsIsTakenBack() throws {
        files.fail([.synchronizeData], with: .afterwards(EIO))
        #expect(try LogError.code { try log.make(wishes) } == .unavailable)
        try expect(Self.before, log)
        try expect(Self.before, fixture.open(remembering: true))
        try log.make(wishes)
        try expect(after, fixture.open(remembering: true))
    }

    @Test func thatAReaderMeetsBeforeItIsTakenBackIsNotReturned() throws {
        let reader = try fixture.open(remembering: true, waiting: .milliseconds(20))
        let code = Mutex<LogError.Code?>(nil)
        files.watch(.synchronizeData) { _ in
            guard code.withLock({ $0 == nil }) else { return }
            do { _ = try reader.get("name 7") } catch { code.withLock { $0 = (error as? LogError)?.code } }
        }
        files.fail([.synchronizeData], with: .error(EIO))
        #expect(try LogError.code { try log.make(wishes) } == .unavailable)
        files.heal()
        try #require(code.withLock { $0 } == .busy)
        try expect(Self.before, reader)
        try expect(Self.before, fixture.open(remembering: true))
    }

    /// Disks write whole sectors, in any order: what a power loss leaves of the head is no damage.
    @Test(arguments: [true, false]) func whoseHeadIsTornIsATornTail(_ isFirstSectorThere: Bool) throws {
        let end = Int(try end(at: 400..<512))
        files.forgetCalls()
        try log.make(wishes)
        let head = try #require(files.calls.last { $0.kind == .write && $0.offset == UInt64(end) })
        var bytes = try fixture.bytes
        let border = (end / 512 + 1) * 512
        let lost = isFirstSectorThere ? border..<end + head.count : end..<border
        #expect(lost.count >= 16 && lost.count <= 512)
        for index in lost { bytes[index] = 0 }
        try overwrite(fixture.path, bytes)
        let other = try fixture.open()
        try expect(Self.before, other)
        try other.set("b", "next")
        #expect(try fixture.open().verify().entries == 2)
    }

    @Test(arguments: 0..<12) func duringWhichPowerIsLostIsThereOrNot(_ seed: Int) throws {
        var machine = try PowerLossMachine(7_000 + seed)
        for round in 0..<2 {
            let inFlight = try machine.workUntilPowerLoss(within: 9) { generator in
                (0..<400).map { ("name \(round) \($0)", generator.bytes(4_000)) }
            }
            try machine.checkAfterPowerLoss(inFlight)
            try machine.checkNextCommit()
        }
    }
}
