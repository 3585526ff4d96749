import Sealing
import TestSupport
import Testing

@testable import SealedFormat

/// Someone without the key drops, doubles, moves and brings in whole records.
@Suite("Splicing")
struct SplicingTests {
    private let vault: TamperedVault
    private var fixture: LogFixture { vault.fixture }
    private var file: RecordList { vault.file }

    init() throws {
        vault = try TamperedVault()
    }

    @Test func aRecordThatIsDroppedIsNoticedUnlessItIsTheLast() throws {
        for index in file.records.indices {
            var records = file.all
            records.remove(at: index)
            guard index < file.records.count - 1 else {
                #expect(try vault.outcome(of: file.file(with: records)) == vault.history[vault.history.count - 2])
                return
            }
            try vault.expectDamage(records)
        }
    }

    @Test func aRecordThatIsZeroedIsNoticedUnlessItIsTheLast() throws {
        for index in file.records.indices {
            var records = file.all
            records[index] = [UInt8](repeating: 0, count: records[index].count)
            let found = try vault.outcome(of: file.file(with: records))
            #expect(found == (index < file.records.count - 1 ? nil : vault.history[vault.history.count - 2]))
        }
    }

    @Test func aRecordThatIsDoubledIsNoticed() throws {
        for index in file.records.indices {
            var records = file.all
            records.insert(records[index], at: index)
            try vault.expectDamage(records)
            try vault.expectDamage(file.all + [file[index]])
        }
    }

    @Test func recordsThatAreSwappedAreNoticed() throws {
        for index in file.records.indices.dropLast() {
            var records = file.all
            records.swapAt(index, index + 1)
            try vault.expectDamage(records)
        }
        try vault.expectDamage(file.all.reversed())
    }

    @Test func aRecordOfAnotherVaultIsNoticed() throws {
        let other = try LogFixture()
        let log = try other.open()
        for number in 0..<12 { try log.set("name \(number)", RandomBytes.array(40)) }
        let foreign = try RecordList(other.path)
        for index in file.records.indices {
            var records = file.all
            records[index] = foreign[index]
            try vault.expectDamage(records)
        }
        try vault.expectDamage(file.all + [foreign[0]])
        // All of them behind this vault's checkpoint.
        try vault.expectDamage(foreign.all)
    }

    @Test func aRecordOfAnOlderStateIsNoticed() throws {
        // The same vault, gone another way since its third record.
        try overwrite(fixture.path, file.file(with: Array(file.all.prefix(3))))
        let log = try fixture.open()
        for number in 0..<9 { try log.set("other \(number)", RandomBytes.array(40)) }
        let other = try RecordList(fixture.path)
        for index in 3..<11 {
            var records = file.all
            records[index] = other[index]
            try vault.expectDamage(records)
            try vault.expectDamage(Array(file.all.prefix(index)) + [other[11]])
        }
        // Records from before the last compaction.
        try overwrite(fixture.path, file.bytes)
        let compacted = try fixture.open()
        try compacted.compact()
        let newer = try RecordList(fixture.path)
        #expect(newer.records.isEmpty)
        #expect(try vault.outcome(of: newer.file(with: [other[11]])) == nil)
        #expect(try vault.outcome(of: newer.file(with: other.all)) == nil)
    }

    @Test func aCheckpointOfAnOlderStateIsNoticed() throws {
        try overwrite(fixture.path, file.bytes)
        let log = try fixture.open()
        try log.compact()
        let newer = try RecordList(fixture.path)
        // The newer header over the older pages, and the other way round.
        for (header, body) in [(newer, file), (file, newer)] {
            let start = Int(Limits.checkpointStart)
            let bytes = Array(header.bytes[..<start]) + Array(body.bytes[start...])
            #expect(try vault.outcome(of: bytes) == nil)
        }
    }
}
