import Sealing
import TestSupport
import Testing

@testable import SealedLog

@Suite("What one record takes")
struct TransactionBatchTests {
    private func change(_ name: String, mebibytes: Int) throws -> Change {
        let box = [UInt8](repeating: 0, count: mebibytes << 20)
        let version = StoredVersion(kind: 0, nonce: randomNonce(), offset: 0, length: box.count - SecretBox.tagSize)
        return Change(try .sample(name), .anything, .set(SealedValue(version: version, box: box), attributes: nil))
    }

    private func add(_ changes: [Change], to batch: inout TransactionBatch) throws -> Bool {
        try batch.add(changes, now: 1) { (_) throws(LogError) in nil }
    }

    @Test func aTransactionThatHasNoRoomIsLeftForTheNextRecord() throws {
        var batch = TransactionBatch(totals: Totals())
        #expect(try add([change("a", mebibytes: 100)], to: &batch))
        #expect(try !add([change("b", mebibytes: 100), change("c", mebibytes: 100)], to: &batch))
        #expect(batch.transactions.count == 1 && batch.payload.count == 100 << 20)
        #expect(try add([change("d", mebibytes: 100)], to: &batch))
        #expect(batch.totals.entries == 2)
        // It fits in a record of its own.
        var next = TransactionBatch(totals: batch.totals)
        #expect(try add([change("b", mebibytes: 100), change("c", mebibytes: 100)], to: &next))
    }

    @Test func aTransactionThatNoRecordHasRoomForIsRefused() throws {
        var batch = TransactionBatch(totals: Totals())
        let changes = [try change("a", mebibytes: 200), try change("b", mebibytes: 60)]
        #expect(try LogError.code { _ = try add(changes, to: &batch) } == .invalid)
        #expect(batch.isEmpty && batch.payload.isEmpty)
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
