import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// What a writer that was killed, or whose flush failed, has left behind the end of the log.
@Suite("A tail that has to be cleared")
struct ClearingTests {
    private let fixture: LogFixture
    /// Had the vault open all the while.
    private let live: SealedLog
    private let files = FaultyFileSystem()

    init() throws {
        fixture = try LogFixture()
        live = try fixture.open()
        try live.set("a", "old")
    }

    /// Every write of zeros after the first one fails, as it does for one who is killed there.
    private func cutClearingShort(after writes: Int) {
        files.fail([.write], after: writes, times: 1_000, with: .error(EIO))
    }

    private func expectNothingToBeLost() throws {
        // Ends where something was left, if it was left.
        let value = RandomBytes.array(1_500_000)
        try live.set("b", value)
        try live.set("c", "x")
        let expected = ["a": Array("old".utf8), "b": value, "c": Array("x".utf8)]
        #expect(try live.state() == expected)
        let other = try fixture.open()
        #expect(try other.state() == expected)
        #expect(try other.verify().entries == 3)
    }

    @Test func costsNothingWhenATakingBackIsCutShort() throws {
        let dying = try fixture.open(in: files)
        try dying.set("a", "old")
        files.fail([.synchronizeData], with: .error(EIO))
        // The record itself, the mark, and one piece of zeros.
        cutClearingShort(after: 3)
        #expect(try LogError.code { try dying.set("big", RandomBytes.array(4 << 20)) } == .outcomeUnknown)
        try expectNothingToBeLost()
    }

    @Test(arguments: 0..<6) func costsNothingWhenTheClearingIsCutShort(_ writes: Int) throws {
        // A writer that was killed in the middle of a large record.
        let plan = try live.plan([live.change("big", to: RandomBytes.array(4 << 20))], at: Clock.milliseconds)
        try live.view.withLock { $0.store }.write(Array(plan.bytes.prefix(3 << 20)), at: plan.record.offset)
        // One that clears what it left, and is killed as well.
        let second = try fixture.open(in: files)
        files.fail([.synchronizeData], with: .error(EIO))
        cutClearingShort(after: writes)
        #expect(throws: LogError.self) { try second.set("x", "y") }
        try expectNothingToBeLost()
    }

    /// Whoever opens the vault later need not look through it.
    @Test func isClearedToItsEndByTheNextWriter() throws {
        let plan = try live.plan([live.change("big", to: RandomBytes.array(4 << 20))], at: Clock.milliseconds)
        // The first sectors never came to the disk.
        try live.view.withLock { $0.store }.write(Array(plan.bytes[4_096...]), at: plan.record.offset + 4_096)
        let next = try fixture.open()
        try next.set("b", "short")
        let (store, end) = next.view.withLock { ($0.store, $0.end) }
        #expect(try store.size() > end + 2 << 20)
        #expect(try store.asFile.isZero(end..<store.size()))
    }

    /// From the back to the front, and the first sector by itself.
    @Test func isDamageIfItIsLongerThanARecord() throws {
        let end = try fixture.open().view.withLock { $0.end }
        try #require(truncate(fixture.path, Int(end + Limits.tailSize)) == 0)
        #expect(try LogError.code { _ = try fixture.open() } == nil)
        try #require(truncate(fixture.path, Int(end + Limits.tailSize + 1)) == 0)
        #expect(try LogError.code { _ = try fixture.open() } == .damaged)
    }

    @Test func isClearedAtItsBeginningLast() throws {
        let store = live.view.withLock { $0.store }
        let offset = live.view.withLock { $0.end }
        try store.write(RandomBytes.array(3 << 20), at: offset)
        let other = try FileRecordStore.open(fixture.path, in: files)
        files.forgetCalls()
        try other.clear(offset..<offset + 3 << 20)
        let writes = files.calls.filter { $0.kind == .write && $0.offset >= offset }
        #expect(writes.map(\.offset) == writes.map(\.offset).sorted(by: >))
        #expect(writes.last?.offset == offset)
        #expect(writes.last.map { $0.count <= 512 } == true)
        #expect(try store.asFile.isZero(offset..<offset + 3 << 20))
    }

    /// As those leave it who clear from the front.
    @Test(arguments: [48, 100, 512, 900]) func isClearedEvenIfItBeginsWithZeros(_ distance: Int) throws {
        let (store, end) = live.view.withLock { ($0.store, $0.end) }
        try store.write(RandomBytes.array(5_000), at: end + UInt64(distance))
        for length in [0, 300, 700] { try live.set("length \(length)", RandomBytes.array(length)) }
        let other = try fixture.open()
        #expect(try other.verify().entries == 4)
        try other.set("more", "x")
        #expect(try fixture.open().verify().entries == 5)
    }
}
