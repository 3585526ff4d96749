import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Minor checkpoints")
struct MinorCheckpointTests {
    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open()
    }

    private func fill(_ numbers: Range<Int>) throws {
        for number in numbers { try log.set("name \(number % 700)", "value \(number)") }
    }

    private func expectedState(_ count: Int) -> [String: [UInt8]] {
        (0..<count).reduce(into: [:]) { $0["name \($1 % 700)"] = Array("value \($1)".utf8) }
    }

    private var view: LogView { log.view.withLock { $0 } }

    private func replaceHint(_ hint: [UInt8]) throws {
        var bytes = try fixture.bytes
        bytes.replaceSubrange(Header.hintOffset..<Header.hintOffset + hint.count, with: hint)
        try overwrite(fixture.path, bytes)
    }

    @Test func comeAfter128RecordsWhileTheyAreSmall() throws {
        try fill(0..<128)
        #expect(view.minor == nil && view.recordsSinceMinor == 128)
        try fill(128..<129)
        #expect(view.minor?.entries == 129 && view.recordsSinceMinor == 0)
        #expect(Header.hint(in: try fixture.bytes)?.sequence == 130)
        try fill(129..<257)
        #expect(view.minor?.entries == 129 && view.recordsSinceMinor == 128)
        try fill(257..<258)
        #expect(view.minor?.entries == 258)
        #expect(Header.hint(in: try fixture.bytes)?.sequence == 259)
        #expect(try fixture.open().state() == expectedState(258))
        #expect(try fixture.open().verify().records == 258)
    }

    /// A quarter as many records as the tree has entries, but never more than a reader should have to go through.
    @Test(arguments: [(700, 175), (2_100, 512), (3_000, 512)])
    func comeAfterMoreRecordsAsTheyGrow(_ entries: Int, _ records: Int) throws {
        try log.make((0..<entries).map { ("name \($0)", [1]) })
        #expect(view.minor?.entries == UInt64(entries) && view.recordsSinceMinor == 0)
        for number in 0..<records { try log.set("name 0", "\(number)") }
        #expect(view.recordsSinceMinor == records)
        try log.set("name 0", "last")
        #expect(view.recordsSinceMinor == 0 && view.minor?.entries == UInt64(entries))
        #expect(try fixture.open().text("name 0") == "last")
    }

    @Test func areWhereReadingBegins() throws {
        try fill(0..<600)
        let files = FaultyFileSystem()
        let other = try fixture.open(in: files)
        #expect(other.view.withLock { $0.recordsSinceMinor } == 84)
        #expect(try other.text("name 1") == "value 1")
        #expect(try other.text("name 599") == "value 599")
        #expect(try other.get("none") == nil)
        let read = files.calls.filter { $0.kind == .read }.reduce(0) { $0 + $1.count }
        #expect(read < (try fixture.bytes.count))
    }

    @Test func areFoundWhateverTheHintSays() throws {
        try fill(0..<1_100)
        let expected = expectedState(1_100)
        let hint = try #require(Header.hint(in: try fixture.bytes))
        let first = try #require(try RecordList(fixture.path).records.first)
        let hints: [[UInt8]] = [
            [UInt8](repeating: 0, count: 32),
            [UInt8](repeating: 0xff, count: 32),
            Hint(offset: hint.offset, sequence: hint.sequence - 1).encoded,
            Hint(offset: hint.offset, sequence: 0).encoded,
            Hint(offset: hint.offset + 16, sequence: hint.sequence).encoded,
            Hint(offset: hint.offset + 1, sequence: hint.sequence).encoded,
            Hint(offset: UInt64(first.lowerBound), sequence: 2).encoded,
            Hint(offset: 0, sequence: hint.sequence).encoded,
            Hint(offset: 16, sequence: hint.sequence).encoded,
            Hint(offset: 1 << 61, sequence: hint.sequence).encoded,
            Hint(offset: .max - 15, sequence: .max).encoded,
            // The older minor checkpoint.
            try olderHint().encoded,
            RandomBytes.array(32),
        ]
        for hint in hints {
            try replaceHint(hint)
            #expect(try fixture.open().state() == expected)
        }
        // A writer that reads so writes on, and the next hint is right again.
        let other = try fixture.open()
        for number in 0..<600 { try other.set("more", "\(number)") }
        #expect(Header.hint(in: try fixture.bytes)?.sequence ?? 0 > hint.sequence)
        #expect(try fixture.open().verify().entries == 701)
    }

    @Test func ofAnotherHistoryShowNothingOfIt() throws {
        let bytes = try fixture.bytesWithATreeOfAnotherHistory()
        try overwrite(fixture.path, bytes)
        // Its names open, wherever its values lie.
        #expect(try LogError.code { _ = try fixture.open().entries() } == .damaged)
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.state == ["name 0": Array("of both".utf8)] && salvaged.report.lost.isEmpty)
    }

    private func olderHint() throws -> Hint {
        let records = try RecordList(fixture.path).records
        // The header has sequence number 1, so the record of number 130 is the 129th.
        return Hint(offset: UInt64(records[128].lowerBound), sequence: 130)
    }

    @Test func comeAtOnceForALargeTransaction() throws {
        try log.set("old", "x")
        try log.make((0..<500).map { ("name \($0)", Array("value \($0)".utf8)) } + [("old", nil)])
        #expect(view.minor?.entries == 501 && view.recordsSinceMinor == 0)
        #expect(try fixture.open().state() == expectedState(500))
        try log.make((0..<500).map { ("name \($0)", nil) })
        #expect(try fixture.open().state().isEmpty)
        #expect(try log.entries().isEmpty)
        #expect(try log.get("name 7") == nil)
        #expect(try fixture.open().verify().entries == 0)
    }

    @Test func holdTheTombstonesOfWhatTheCheckpointHolds() throws {
        try log.make((0..<600).map { ("name \($0)", Array("value \($0)".utf8)) })
        try log.compact()
        try log.make((0..<600).map { ("name \($0)", $0 < 300 ? nil : Array("new".utf8)) })
        #expect(view.minor != nil)
        let state = try fixture.open().state()
        #expect(state.count == 300)
        #expect(state.values.allSatisfy { $0 == Array("new".utf8) })
        #expect(try fixture.open().get("name 0") == nil)
    }

    @Test func aTransactionOfTheSameNameManyTimesKeepsTheLast() throws {
        try log.make((0..<400).map { ("name", Array("value \($0)".utf8)) })
        #expect(view.minor?.entries == 1)
        #expect(try fixture.open().text("name") == "value 399")
        #expect(try fixture.open().verify().entries == 1)
    }
}
