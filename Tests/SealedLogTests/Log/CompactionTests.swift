import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Compaction")
struct CompactionTests {
    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open()
    }

    @Test func keepsWhatIsThereAndLetsGoOfTheRest() throws {
        for number in 0..<50 { try log.set("name \(number % 20)", RandomBytes.array(number * 30)) }
        for number in 0..<5 { try log.remove("name \(number)") }
        let attribute = Attribute(key: "url", value: "x")
        try log.commit([log.change("name 9", to: [7], attributes: [attribute])], timeout: SealedLog.patience)
        let state = try log.state()
        let entries = try log.entries()
        let report = try log.compact()
        #expect(report.sizeAfter <= report.sizeBefore)
        #expect(try report.sizeAfter == fixture.bytes.count)
        for reader in [log, try fixture.open()] {
            #expect(try reader.state() == state)
            #expect(try reader.verify().entries == 15)
            #expect(try reader.verify().records == 0)
            let kept = try reader.entries()
            #expect(kept.map(\.name) == entries.map(\.name))
            #expect(kept.map(\.modified) == entries.map(\.modified))
            #expect(kept.map { $0.content?.created } == entries.map { $0.content?.created })
            #expect(kept.map { $0.content?.current.nonce } == entries.map { $0.content?.current.nonce })
            #expect(try reader.entry(.sample("name 9"))?.content?.attributes == [attribute])
        }
        try log.expectTotalsToBeRight()
        #expect(try log.information().deadBytes == 0)
    }

    /// Whoever has the data key can plant one, and must not keep others from compacting the vault.
    @Test func copiesABoxThatBeginsWhereAnotherDoesByItself() throws {
        try log.set("long", RandomBytes.array(100))
        try log.set("other", RandomBytes.array(100))
        let view = log.view.withLock { $0 }
        let long = try #require(try log.entry(.sample("long"))?.content?.current)
        let other = try #require(try log.entry(.sample("other"))?.content?.current)
        var short = long
        short.length = 20
        for opened in [nil, []] as [[StoredVersion]?] {
            let lock = try view.store.locked(.exclusive, until: Deadline(after: .seconds(10)))
            let replacement = try view.store.makeReplacement(isImpatient: false)
            defer { replacement.discard() }
            var checkpoint = CheckpointWriter(into: replacement, keys: view.keys)
            var repair: BoxRepair?
            var boxes = MovedBoxes(opened: opened)
            for version in [other, long, short, long] { boxes.add(version) }
            try boxes.copy(from: view.reader, &repair, to: &checkpoint, nil)
            let moved = try [short, long, other].map { (version) throws(LogError) in try boxes.moved(version) }
            for (one, next) in zip(moved, moved.dropFirst()) { #expect(one.box.upperBound == next.box.lowerBound) }
            #expect(moved.map(\.length) == [20, 100, 100])
            lock.release()
        }
    }

    /// Whoever has the old file and the new one sees no value move, and so learns nothing of the order of the names.
    @Test func keepsTheOrderInWhichTheValuesLie() throws {
        for number in [5, 2, 9, 0, 7, 1, 8, 3, 6, 4] { try log.set("name \(number)", RandomBytes.array(40)) }
        try log.make([("name 6", [1]), ("name 2", [2])])
        func order() throws -> [String] {
            try log.entries().sorted { $0.content?.current.offset ?? 0 < $1.content?.current.offset ?? 0 }.map(
                \.name.text)
        }
        let expected = [5, 9, 0, 7, 1, 8, 3, 4, 6, 2].map { "name \($0)" }
        #expect(try order() == expected)
        for _ in 0..<2 {
            try log.compact()
            #expect(try order() == expected)
        }
        let target = fixture.folder.file("salvaged.vault")
        let options = fixture.options()
        _ = try SealedLog.salvage(fixture.path, to: target, key: fixture.key(), options: options, in: PosixFileSystem())
        let salvaged = try openApart(target, options: options, readKey: fixture.key)
        let entries = try salvaged.entries().sorted {
            $0.content?.current.offset ?? 0 < $1.content?.current.offset ?? 0
        }
        #expect(entries.map(\.name.text) == expected)
    }

    @Test func continuesTheChain() throws {
        for number in 0..<10 { try log.set("a", "\(number)") }
        let id = try fixture.header.vaultID
        for _ in 0..<3 {
            let before = log.view.withLock { $0 }
            try log.compact()
            let after = log.view.withLock { $0 }
            // The notice has the number between.
            #expect(after.head.sequence == before.head.sequence + 2)
            #expect(try fixture.header.sequence == after.head.sequence)
            for position in before.passed { #expect(try after.includes(position) == .included) }
            let other = LogPosition(sequence: before.head.sequence, authenticator: randomAuthenticator())
            #expect(try after.includes(other) == .excluded)
        }
        #expect(try fixture.header.vaultID == id)
        #expect(try log.information().keySlots.map(\.label) == ["a label"])
    }

    @Test func keepsTheNewestAuthenticatorsOnly() throws {
        var positions: [LogPosition] = []
        for number in 0..<Limits.chainLength + 50 {
            try log.set("a", "\(number)")
            positions.append(log.view.withLock { $0.head })
        }
        try log.compact()
        let view = log.view.withLock { $0 }
        #expect(try view.manifest().chain.count == Limits.chainLength)
        #expect(try view.includes(positions[positions.count - 1]) == .included)
        // The newest of the chain is the notice of compaction.
        #expect(try view.includes(positions[positions.count - Limits.chainLength + 1]) == .included)
        #expect(try view.includes(positions[positions.count - Limits.chainLength]) == .unknown)
    }

    @Test func ofAnEmptyVaultAndOfTombstonesAlone() throws {
        try log.compact()
        #expect(try fixture.header.root == nil)
        #expect(try fixture.open().verify().entries == 0)
        try log.set("a", "x")
        try log.remove("a")
        try log.compact()
        #expect(try fixture.header.root != nil)
        #expect(try fixture.open().verify().entries == 0)
        #expect(try fixture.open().get("a") == nil)
    }

    @Test func letsGoOfTombstonesAfter90Days() throws {
        func tombstones() throws -> [String] {
            let view = log.view.withLock { $0 }
            var merge = try view.entries()
            var names: [String] = []
            while let entry = try merge.next() {
                if entry.isRemoved { names.append(entry.name.text) }
            }
            return names
        }
        let day: UInt64 = 86_400_000
        let past = Clock.milliseconds - 99 * day
        for name in ["old", "young"] { try log.commit([log.change(name, to: [1])], at: past) }
        try log.commit([log.change("old", to: nil)], at: Clock.milliseconds - 91 * day)
        try log.commit([log.change("young", to: nil)], at: Clock.milliseconds - 89 * day)
        #expect(try tombstones() == ["old", "young"])
        try log.compact()
        #expect(try tombstones() == ["young"])
    }

    /// In a process of its own: arithmetic that overflows would end all tests.
    @Test func copesWithATombstoneOfTheLargestTime() async {
        await #expect(processExitsWith: .success) {
            let fixture = try LogFixture()
            let log = try fixture.open()
            try log.make([("a", [1]), ("b", [2])])
            try log.commit([log.change("a", to: nil)], at: .max)
            try log.compact()
            #expect(try fixture.open().state() == ["b": [2]])
        }
    }

    @Test func thatWasKilledLeavesAFileThatTheNextWriterRemoves() throws {
        let left = unpublishedPath(for: fixture.path)
        try overwrite(left, Array("left by a crash".utf8))
        try fixture.open().set("a", "new")
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test func ofAVaultWithAChangedHeaderCopyLeavesItAsItIs() throws {
        var bytes = try fixture.bytes
        bytes[Header.copyOffset + 20] ^= 1
        try overwrite(fixture.path, bytes)
        #expect(try LogError.code { _ = try fixture.open().compact() } == .damaged)
        #expect(try fixture.bytes == bytes)
    }

    @Test func keepsOwnerAndModeAndLeavesNoOtherFile() throws {
        try setMode(fixture.path, 0o640)
        try overwrite(unpublishedPath(for: fixture.path), Array("left by a crash".utf8))
        if geteuid() == 0 {
            try FileManager.default.setAttributes([.groupOwnerAccountID: 12_345], ofItemAtPath: fixture.path)
        }
        let before = try PosixFileSystem().status(at: fixture.path)
        try log.compact()
        let after = try PosixFileSystem().status(at: fixture.path)
        #expect(after.identity != before.identity)
        #expect((after.mode, after.owner, after.group) == (before.mode, before.owner, before.group))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path).sorted()
                == ["default.key", "default.vault"])
    }

    @Test func ofAVaultWithAChangedPayloadLeavesItAsItIs() throws {
        try log.set("a", "first")
        try log.set("a", "second")
        try log.set("b", "x")
        let file = try RecordList(fixture.path)
        var bytes = file.bytes
        // A value that is no more.
        bytes[file.records[0].upperBound - 1] ^= 1
        try overwrite(fixture.path, bytes)
        for log in [log, try fixture.open()] {
            #expect(try LogError.code { try log.compact() } == .damaged)
            #expect(try fixture.bytes == bytes)
            #expect(try LogError.code { try log.verify() } == .damaged)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path).sorted()
                == ["default.key", "default.vault"])
    }

    @Test func isFollowedByOtherHandles() throws {
        let other = try fixture.open()
        try log.set("a", "1")
        #expect(try other.text("a") == "1")
        try log.compact()
        #expect(try other.text("a") == "1")
        try log.set("a", "2")
        #expect(try other.text("a") == "2")
        try other.set("a", "3")
        #expect(try log.text("a") == "3")
        try other.compact()
        try log.compact()
        #expect(try other.verify().entries == 1)
    }

    @Test func aReadThatBeganBeforeItEndsWell() throws {
        for number in 0..<400 { try log.set("name \(number)", "x") }
        let other = try fixture.open()
        let view = other.view.withLock { $0 }
        var merge = try view.entries()
        _ = try merge.next()
        try log.compact()
        try log.set("more", "y")
        var count = 1
        while try merge.next() != nil { count += 1 }
        #expect(count == 400)
    }
}
