import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// A compaction copies without the lock: whatever is written meanwhile is in the new file.
@Suite("Compaction beside writers")
struct CompactionBesideWritersTests {
    private let fixture: LogFixture
    private let files = FaultyFileSystem()
    private let log: SealedLog
    /// Writes through a handle of its own, as another process does.
    private let other: SealedLog

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open(in: files, remembering: true)
        other = try fixture.open(remembering: true)
        try log.make((0..<600).map { ("name \($0)", Array("first \($0)".utf8)) })
        try log.remove("name 599")
    }

    /// Runs `body` once, as soon as the compaction has begun to copy.
    private func whileItCopies(_ body: @escaping @Sendable () throws -> Void) {
        let left = unpublishedPath(for: fixture.path)
        let hasRun = Flag()
        files.watch(.write) { call in
            guard call.path == left, !hasRun.isSet else { return }
            hasRun.set()
            do { try body() } catch { Issue.record(error) }
        }
    }

    /// Few changes become records without a tree, many one with a tree, and what comes after that records again.
    @Test(arguments: [0, 1, 63, 64, 65, 256, 257, 500]) func keepsWhatOthersWriteMeanwhile(count: Int) throws {
        whileItCopies { [other] in
            for number in 0..<count { try other.set("name \(number)", "second \(number)") }
            try other.remove("name 3")
            try other.make([("new", [1, 2, 3]), ("name 4", [])])
        }
        let before = try log.state().count
        try log.compact()
        for reader in [log, other, try fixture.open(remembering: true)] {
            let state = try reader.state()
            #expect(state.count == before)
            #expect(state["new"] == [1, 2, 3])
            #expect(state["name 3"] == nil)
            #expect(state["name 4"] == [])
            for number in 5..<599 {
                let text = number < count ? "second \(number)" : "first \(number)"
                #expect(state["name \(number)"] == Array(text.utf8))
            }
            #expect(try reader.verify().entries == before)
        }
        #expect(try fixture.header.sequence > 1)
        try log.expectTotalsToBeRight()
        try other.set("name 0", "third")
        #expect(try log.text("name 0") == "third")
    }

    /// Of what is written after the copy it learns only under the lock.
    @Test(arguments: [1, 300]) func keepsWhatOthersWriteAfterItHasFlushedItsCopy(count: Int) throws {
        defer { files.heal() }
        let left = unpublishedPath(for: fixture.path)
        let hasRun = Flag()
        files.watch(.synchronizeData) { [other] call in
            guard call.path == left, !hasRun.isSet else { return }
            hasRun.set()
            do {
                for number in 0..<count { try other.set("name \(number)", "second") }
                try other.remove("name 400")
            } catch { Issue.record(error) }
        }
        try log.compact()
        #expect(hasRun.isSet)
        #expect(try fixture.header.sequence > 1)
        for reader in [log, other, try fixture.open(remembering: true)] {
            for number in 0..<count { #expect(try reader.text("name \(number)") == "second") }
            #expect(try reader.text("name \(count)") == "first \(count)")
            #expect(try reader.text("name 400") == nil)
            #expect(try reader.verify().entries == 598)
        }
    }

    /// Of that it learns only under the lock. A minor checkpoint it reads without the lock, unless one is written each
    /// time.
    @Test(arguments: [(1, 1), (300, 1), (300, 9)])
    func keepsWhatOthersWriteRightBeforeItTakesTheLock(count: Int, times: Int) throws {
        defer { files.heal() }
        let isCopied = Flag()
        let left = Mutex(times)
        files.watch(.synchronizeData) { [copy = unpublishedPath(for: fixture.path)] call in
            if call.path == copy { isCopied.set() }
        }
        files.watch(.lock) { [other, path = fixture.path] call in
            guard call.path == path, isCopied.isSet, left.withLock({ $0 > 0 }) else { return }
            let time = left.withLock { (left) in
                left -= 1
                return left
            }
            do {
                for number in 0..<count { try other.set("name \(number)", "value \(time)") }
                try other.remove("name 400")
            } catch { Issue.record(error) }
        }
        try log.compact()
        #expect(try fixture.header.sequence > 1)
        // Readers lock, too.
        files.heal()
        #expect(left.withLock { $0 } == max(0, times - 4))
        for reader in [log, other, try fixture.open(remembering: true)] {
            for number in 0..<count { #expect(try reader.text("name \(number)") == "value \(max(0, times - 4))") }
            #expect(try reader.text("name \(count)") == "first \(count)")
            #expect(try reader.text("name 400") == nil)
            #expect(try reader.verify().entries == 598)
        }
    }

    /// One flush of all would make those wait who write meanwhile.
    @Test func flushesALargeCopyInSteps() throws {
        for number in 0..<3 { try log.set("large \(number)", RandomBytes.array(9 << 20)) }
        files.forgetCalls()
        try log.compact()
        let copy = unpublishedPath(for: fixture.path)
        let unflushed = files.calls.filter { $0.path == copy }.reduce(into: [0]) { (sizes, call) in
            if call.kind == .synchronizeData { sizes.append(0) }
            if call.kind == .write { sizes[sizes.count - 1] += call.count }
        }
        #expect(unflushed.max() ?? 0 < 20 << 20)
    }

    /// A store in a database keeps what was written first. The hint is an exception, which it has elsewhere.
    @Test(arguments: [0, 64, 500]) func writesNoByteTwice(count: Int) throws {
        whileItCopies { [other] in
            for number in 0..<count { try other.set("name \(number)", "second") }
        }
        files.forgetCalls()
        try log.compact()
        let copy = unpublishedPath(for: fixture.path)
        let writes = files.calls.filter { $0.path == copy && $0.kind == .write && $0.offset != Header.hintOffset }
        let ranges = writes.map { $0.offset..<$0.offset + UInt64($0.count) }
        let written = ranges.reduce(into: RangeSet<UInt64>()) { $0.insert(contentsOf: $1) }
        #expect(ranges.reduce(0) { $0 + $1.count } == written.ranges.reduce(0) { $0 + $1.count })
        #expect(written == RangeSet(0..<(try #require(ranges.map(\.upperBound).max()))))
    }

    /// The tree of so many changes repeats what is older, and tells a removal from that by the tombstone alone.
    @Test func keepsWhatOthersRemoveMeanwhileWithManyOtherChanges() throws {
        whileItCopies { [other] in
            try other.make((0..<500).map { ("more \($0)", [1]) } + [("name 5", nil)])
            #expect(other.view.withLock { $0.minor != nil })
        }
        try log.compact()
        for reader in [log, try fixture.open(remembering: true)] {
            #expect(try reader.text("name 5") == nil)
            #expect(try reader.verify().entries == 599 + 500 - 1)
        }
    }

    enum Replacement: CaseIterable { case copy, copyThatChangesLater, copyWithAnotherKey }

    /// The vault then has the same history, but is not the file that was copied, and may have other keys.
    @Test(arguments: Replacement.allCases) func beginsAnewIfACopyReplacedTheVault(_ replacement: Replacement) throws {
        var state = try log.state()
        let copy = fixture.folder.file("copy.vault")
        try overwrite(copy, try fixture.bytes)
        if replacement == .copyWithAnotherKey {
            let log = try openApart(copy, options: fixture.options(), readKey: fixture.key)
            _ = try log.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
                try table.add(passphrase("another"), limits: .low, label: "another")
            }
        }
        let slots = try Header(parsing: Array(contents(copy)[..<Header.size])).slots
        let sequence = Mutex<UInt64>(0)
        whileItCopies { [other, fixture] in
            try replace(fixture.path, with: contents(copy))
            if replacement == .copyThatChangesLater { try other.set("name 7", "later") }
            let head = try fixture.open().view.withLock { $0.head }
            sequence.withLock { $0 = head.sequence }
        }
        try log.compact()
        if replacement == .copyThatChangesLater { state["name 7"] = Array("later".utf8) }
        let header = try fixture.header
        #expect(header.slots == slots)
        #expect(header.sequence == sequence.withLock { $0 } + 2, "only one notice is in front of the header")
        for reader in [log, other, try fixture.open(remembering: true)] { #expect(try reader.state() == state) }
        #expect(try fixture.open().verify().entries == state.count)
        #expect(!FileManager.default.fileExists(atPath: unpublishedPath(for: fixture.path)))
    }

    /// As those that were there before: whoever has both files learns nothing of the order of the names.
    @Test(arguments: [10, 300]) func keepsTheOrderInWhichTheValuesLie(count: Int) throws {
        let names = (0..<count).map { "new \($0 * 7 % count)" }
        whileItCopies { [other] in
            for name in names { try other.set(name, "x") }
        }
        try log.compact()
        let entries = try log.entries(prefix: Array("new ".utf8))
        let ordered = entries.sorted { $0.content?.current.offset ?? 0 < $1.content?.current.offset ?? 0 }
        #expect(ordered.map(\.name.text) == names)
    }

    @Test func manyChangesAreFoundThroughTheHint() throws {
        whileItCopies { [other] in
            try other.make((0..<500).map { ("more \($0)", [1]) })
        }
        try log.compact()
        let view = try fixture.open().view.withLock { $0 }
        // Without the tombstone from before, which the tree of the old file repeats.
        #expect(view.minor?.entries == 500)
        #expect(try Header.hint(in: fixture.bytes)?.offset == view.header.checkpointEnd)
    }

    /// Who knows a change from before the switch knows it afterwards, and who had another is told.
    @Test func theChainHasWhatWasWrittenMeanwhile() throws {
        let positions = Mutex<[LogPosition]>([])
        whileItCopies { [other] in
            for number in 0..<40 {
                try other.set("name \(number)", "second")
                positions.withLock { $0.append(other.view.withLock { $0.head }) }
            }
        }
        try log.compact()
        let view = log.view.withLock { $0 }
        for position in positions.withLock({ $0 }) {
            #expect(try view.includes(position) == .included)
            let different = LogPosition(sequence: position.sequence, authenticator: randomAuthenticator())
            #expect(try view.includes(different) == .excluded)
        }
    }

    @Test func ofAChangeThatItsWriterTookBackBeginsAnew() throws {
        // The log keeps the files, which keep what watches them.
        defer { files.heal() }
        // It is there while the compaction copies, and gone once it has flushed what it copied.
        let end = Mutex<UInt64>(0)
        whileItCopies { [log] in
            end.withLock { $0 = log.view.withLock { $0.end } }
            try log.writeWithoutFlush("name 1", [9])
        }
        files.watch(.synchronizeData) { [log, path = fixture.path] call in
            guard call.path == unpublishedPath(for: path),
                let end = end.withLock({ $0 > 0 ? exchange(&$0, with: 0) : nil })
            else { return }
            do { try log.view.withLock { $0.store }.asFile.clear(end..<end + 512) } catch { Issue.record(error) }
        }
        try log.compact()
        #expect(try fixture.open().text("name 1") == "first 1")
        #expect(try fixture.open().verify().entries == 599)
    }

    @Test func leavesAVaultAsItIsIfAValueWasChangedMeanwhile() throws {
        defer { files.heal() }
        whileItCopies { [log, other, path = fixture.path] in
            let end = log.view.withLock { $0.end }
            try other.set("name 1", RandomBytes.array(200))
            try other.set("name 2", "after it")
            let first = try #require(RecordList(path).records.first { $0.lowerBound >= Int(end) })
            var bytes = try contents(path)
            bytes[first.upperBound - 1] ^= 1
            try overwrite(path, bytes)
        }
        #expect(try LogError.code { try log.compact() } == .damaged)
        #expect(try fixture.header.sequence == 1)
    }

    @Test func waitsForAnotherOneAndGivesWayIfItWasNotAskedFor() throws {
        let outcome = Mutex<LogError.Code?>(nil)
        whileItCopies { [other] in
            let code = try LogError.code { try other.compactOnce() }
            outcome.withLock { $0 = code }
        }
        try log.compact()
        #expect(outcome.withLock { $0 } == .busy)
        let sequence = try fixture.header.sequence
        whileItCopies { [other] in
            // Its file is beside the vault until this returns.
            let code = try LogError.code { _ = try other.compact(timeout: .milliseconds(50)) }
            outcome.withLock { $0 = code }
        }
        try log.compact()
        #expect(outcome.withLock { $0 } == .busy)
        #expect(try fixture.header.sequence == sequence + 2)
    }

    @Test func whatConcurrentWritersDoBesideCompactionsIsNotLost() throws {
        try onThreads(5) { [log, other] thread in
            guard thread > 0 else {
                for _ in 0..<20 { try other.compact() }
                return
            }
            for number in 0..<150 {
                try (thread.isMultiple(of: 2) ? log : other).set("\(thread)/\(number)", "value \(number)")
                if number % 3 == 0 { try log.remove("\(thread)/\(number)") }
            }
        }
        let state = try fixture.open(remembering: true).state()
        #expect(state.count == 599 + 4 * 100)
        for thread in 1...4 {
            for number in 0..<150 where number % 3 != 0 {
                #expect(state["\(thread)/\(number)"] == Array("value \(number)".utf8))
            }
        }
        #expect(try fixture.open().verify().entries == 999)
        #expect(!FileManager.default.fileExists(atPath: unpublishedPath(for: fixture.path)))
    }

    @Test func thatAChangeMadeDueIsMadeBeforeTheProcessEnds() async throws {
        let fixture = try LogFixture()
        await #expect(processExitsWith: .success) { [path = fixture.path as String, key = fixture.keyPath as String] in
            let log = try openApart(path, options: SealedLog.Options()) { () throws(LogError) in
                try KeyFile.read(key, secretFolders: [], in: PosixFileSystem())
            }
            for _ in 0..<8 {
                let change = try log.change("a", to: RandomBytes.array(50_000))
                try log.commit([change], timeout: SealedLog.patience)
            }
            exit(EXIT_SUCCESS)
        }
        #expect(try fixture.header.sequence > 1)
        #expect(!FileManager.default.fileExists(atPath: unpublishedPath(for: fixture.path)))
    }
}
