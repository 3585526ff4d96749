import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("What one record takes")
struct TransactionBatchTests {
    private static let boxSize = 16 << 20

    /// Changes that take so many mebibytes together, a multiple of 16.
    private func changes(_ name: String, mebibytes: Int) throws -> ChangeList {
        let box = [UInt8](repeating: 0, count: Self.boxSize)
        let length = box.count - SecretBox.tagSize
        let keys = try randomKeys()
        return ChangeList(
            try (0..<(mebibytes << 20) / Self.boxSize).map { number in
                let version = StoredVersion(kind: 0, nonce: randomNonce(), offset: 0, length: length)
                let value = SealedValue(version: version, box: box[...], keys: keys)
                return Change(try .sample("\(name) \(number)"), .anything, .set(value, attributes: nil))
            })
    }

    private func add(_ changes: ChangeList, to batch: inout TransactionBatch) throws -> Bool {
        try batch.add(changes, Circumstances(now: 1, sequence: 1, history: .none)) { (_) throws(LogError) in nil }
    }

    @Test func aTransactionThatHasNoRoomIsLeftForTheNextRecord() throws {
        var batch = TransactionBatch(totals: Totals())
        #expect(try add(changes("a", mebibytes: 96), to: &batch))
        #expect(try !add(changes("b", mebibytes: 192), to: &batch))
        #expect(batch.transactions.map(\.count) == [6] && batch.payloadSize == 96 << 20)
        #expect(batch.entries.find(try .sample("b 0")) == nil)
        #expect(try add(changes("d", mebibytes: 96), to: &batch))
        #expect(batch.totals.entries == 12)
        // It fits in a record of its own.
        var next = TransactionBatch(totals: batch.totals)
        #expect(try add(changes("b", mebibytes: 192), to: &next))
    }

    @Test func aNameThatATransactionSetsTwiceCountsOnce() throws {
        var batch = TransactionBatch(totals: Totals())
        var twice = try changes("a", mebibytes: 16)
        twice.append(twice[0])
        #expect(try add(twice, to: &batch))
        #expect(batch.totals.entries == 1)
        #expect(try add(changes("a", mebibytes: 16), to: &batch))
        #expect(batch.totals.entries == 1)
    }

    @Test func aTransactionThatNoRecordHasRoomForIsRefused() throws {
        var batch = TransactionBatch(totals: Totals())
        #expect(try LogError.code { _ = try add(changes("a", mebibytes: 256), to: &batch) } == .invalid)
        #expect(batch.isEmpty && batch.payloadSize == 0 && batch.entries.count == 0)
    }

    /// It had entries with a history before the one that failed: they are not in the record.
    @Test func aTransactionThatFailsLeavesNoTraceInTheRecord() throws {
        let fixture = try LogFixture(history: .standard)
        let log = try fixture.open()
        for round in 0..<3 { try log.make((0..<200).map { ("name \($0)", [UInt8(round)]) }) }
        let last = Change(try .sample("last"), .unchanged(randomNonce()), .remove)
        let failing = ChangeList(try (0..<200).map { try log.change("name \($0)", to: [9]) } + [last])
        let plan = try log.view.withLock { view in
            var batch = TransactionBatch(totals: try view.currentTotals())
            let circumstances = view.circumstances(at: Clock.milliseconds)
            let code = try LogError.code {
                _ = try batch.add(failing, circumstances) { (name) throws(LogError) in try view.find(name) }
            }
            #expect(code == .conflict && batch.isEmpty)
            let other = ChangeList([try log.change("other", to: [1])])
            #expect(try batch.add(other, circumstances) { (name) throws(LogError) in try view.find(name) })
            return try #require(try view.inlinePlan(batch))
        }
        try log.writer.withLock { _ in try log.append(plan) }
        #expect(try fixture.open().text("other") == "\u{1}")
        try log.verify()
    }

    @Test func whatManyThreadsWriteAtOnceIsInAsManyRecordsAsItTakes() throws {
        let fixture = try LogFixture()
        let log = try fixture.open()
        let changes = try (0..<20).map {
            try log.change("name \($0)", to: [UInt8](repeating: UInt8($0), count: 16 << 20))
        }
        try onThreads(changes.count) { number in try log.commit([changes[number]], timeout: SealedLog.patience) }
        #expect(try log.entries().count == 20)
        for number in [0, 7, 19] { #expect(try log.get("name \(number)")?.count == 16 << 20) }
        for record in try RecordList(fixture.path).records { #expect(record.count < 300 << 20) }
    }
}
