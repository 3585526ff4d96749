import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Two copies of a vault that were changed apart from each other become one again.
@Suite("Merging")
struct MergeTests {
    private static let history = KeptHistory(versions: 255, days: 36_500)
    private static let batchSize = 25
    /// 1,000 seeds in the sanitizer's build, which is optimized, and a fifth of them in a debug build.
    private static let batches = Sanitizer.isAddress ? 40 : 8

    private let fixture: LogFixture

    init() throws { fixture = try LogFixture(history: MergeTests.history) }

    private func copy(_ name: String, of bytes: [UInt8]) throws -> SealedLog {
        let path = fixture.folder.file(name)
        try overwrite(path, bytes)
        return try openApart(path, options: SealedLog.Options(), readKey: fixture.key)
    }

    private func bytes(_ log: SealedLog) throws -> [UInt8] { try contents(log.view.withLock { $0.store.path }) }

    private func position(_ log: SealedLog) -> LogPosition { log.view.withLock { $0.origin } }

    @discardableResult
    private func merge(_ other: SealedLog, into log: SealedLog) throws -> MergeReport {
        // Whatever the data key: who may bring what in is another matter.
        try log.merge(other, taking: .all, timeout: SealedLog.patience)
    }

    /// The base of a batch of seeds, and the time of its last change.
    private func base(_ generator: inout SeededGenerator) throws -> ([UInt8], UInt64) {
        let now = Clock.milliseconds - 1_000_000
        var vault = CopiedVault(try fixture.open(), "base", of: 0..<32, now: now)
        try vault.work(60, &generator)
        return (try fixture.bytes, now + 200)
    }

    // MARK: Any changes

    @Test(arguments: 0..<batches)
    func twoCopiesComeToTheSameAndLoseNoValue(_ batch: Int) throws {
        var generator = SeededGenerator(10_000 + batch)
        let (base, now) = try base(&generator)
        for seed in batch * MergeTests.batchSize..<(batch + 1) * MergeTests.batchSize {
            do { try mergeBothWays(base, now, seed) } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    private func mergeBothWays(_ base: [UInt8], _ now: UInt64, _ seed: Int) throws {
        var generator = SeededGenerator(seed)
        var left = CopiedVault(try copy("left \(seed)", of: base), "left", of: 0..<24, now: now)
        var right = CopiedVault(try copy("right \(seed)", of: base), "right", of: 8..<32, now: now)
        try left.work(200, &generator)
        try right.work(200, &generator)
        let before = [try left.log.entriesWithoutOffsets(), try right.log.entriesWithoutOffsets()]
        let former = try seed.isMultiple(of: 2) ? copy("left \(seed), former", of: bytes(left.log)) : nil

        // Either both take over what the other had, or one after the other.
        let report = try merge(right.log, into: left.log)
        let second = try merge(former ?? left.log, into: right.log)
        let merged = try left.log.entriesWithoutOffsets()
        let other = try right.log.entriesWithoutOffsets()
        let isSame = merged == other
        #expect(isSame, "seed \(seed)")

        for entry in merged {
            let versions = before.map { $0.first { $0.name == entry.name } }
            let expected = expected(versions[0], left, versions[1], right)
            #expect(Set(entry.versions.map(\.nonce)) == expected, "seed \(seed): \(entry.name.text)")
        }
        for entry in merged {
            let times = before.joined().filter { $0.name == entry.name }.map(\.modified)
            #expect(entry.modified == times.max(), "seed \(seed): \(entry.name.text)")
        }
        checkConflicts(report, left, right, seed)
        if former != nil { #expect(report.conflicts == second.conflicts, "seed \(seed)") }

        // What is opened is what was sealed: each box is authentic under its nonce.
        let verified = seed.isMultiple(of: 2) ? left.log : right.log
        #expect(try verified.verify().entries == merged.count { !$0.isRemoved }, "seed \(seed)")
        if seed.isMultiple(of: 4) { try checkNothingIsLeftToMerge(left.log, right.log, merged, seed) }
    }

    /// What has to be kept of a name: all that both sides had, but for what one of them has forgotten on request,
    /// unless the other one has set it since. Where one side alone has changed a name, what it has.
    private func expected(_ left: Entry?, _ ofLeft: CopiedVault, _ right: Entry?, _ ofRight: CopiedVault) -> Set<Nonce>
    {
        guard let name = (left ?? right)?.name.text else { return [] }
        func nonces(_ entry: Entry?, notForgottenBy other: Entry?) -> [Nonce] {
            guard let entry else { return [] }
            let earlier = entry.earlier.filter { $0.modified > other?.forgotten ?? 0 }.map(\.version.nonce)
            return (entry.content.map { [$0.current.nonce] } ?? []) + earlier
        }
        let isLeft = !ofRight.touched.contains(name)
        let isRight = !ofLeft.touched.contains(name)
        let kept =
            (isRight ? [] : nonces(left, notForgottenBy: right)) + (isLeft ? [] : nonces(right, notForgottenBy: left))
        return Set(isLeft && isRight ? nonces(left, notForgottenBy: nil) : kept)
    }

    private func checkConflicts(_ report: MergeReport, _ left: CopiedVault, _ right: CopiedVault, _ seed: Int) {
        let conflicts = Set(report.conflicts)
        #expect(report.conflicts == conflicts.sorted(), "seed \(seed)")
        let both = left.touched.intersection(right.touched)
        #expect(conflicts.isSubset(of: both), "seed \(seed)")
        let certain = left.wasSetLast.intersection(right.wasSetLast)
        #expect(certain.isSubset(of: conflicts), "seed \(seed)")
    }

    private func checkNothingIsLeftToMerge(
        _ left: SealedLog, _ right: SealedLog, _ merged: [Entry], _ seed: Int
    ) throws {
        for (log, other) in [(left, right), (right, left)] {
            let report = try merge(other, into: log)
            #expect(report == MergeReport(), "seed \(seed)")
            #expect(try log.entriesWithoutOffsets() == merged, "seed \(seed)")
        }
        // What is known needs no other header.
        let position = position(right)
        try merge(left, into: right)
        #expect(self.position(right) == position, "seed \(seed)")
    }

    // MARK: Rotated copies

    /// Nothing but times and values tells then what both sides had before.
    @Test(arguments: 0..<20) func copiesOfDifferentDataKeysLoseNoValueEither(_ seed: Int) throws {
        var generator = SeededGenerator(20_000 + seed)
        let (base, now) = try base(&generator)
        var left = CopiedVault(try copy("left", of: base), "left", of: 0..<24, now: now, steps: [2, 4])
        var right = CopiedVault(try copy("right", of: base), "right", of: 8..<32, now: now + 1, steps: [2, 4])
        try left.work(60, &generator)
        if seed.isMultiple(of: 3) { try right.log.rotate() }
        try left.log.rotate()
        for _ in 0..<4 {
            try left.work(30, &generator)
            try right.work(30, &generator)
        }
        let had = [try left.log.states(), try right.log.states()].map(allTexts)
        let forgotten = left.forgotten.union(right.forgotten)
        try merge(right.log, into: left.log)
        try merge(left.log, into: right.log)
        let states = try left.log.states()
        #expect(try right.log.states() == states, "seed \(seed)")
        // What one side has forgotten may not come back from the other one.
        let lost = had[0].union(had[1]).subtracting(allTexts(states))
        #expect(lost.allSatisfy { forgotten.contains($0[0]) }, "seed \(seed): \(lost)")
        #expect(allTexts(states).isSubset(of: had[0].union(had[1])), "seed \(seed)")
        for log in [left.log, right.log] { try log.verify() }
        #expect(try merge(right.log, into: left.log).changed == [], "seed \(seed)")
        #expect(try left.log.states() == states, "seed \(seed)")
        // One data key counts on both sides: that which was rotated since, or that of the side that merged first.
        #expect(try left.log.fingerprint() == right.log.fingerprint())
    }

    /// What was sealed anew several times there, and once here, has other nonces.
    @Test(arguments: 1..<4) func aCopyThatWasAwayDuringRotationsHasEachValueOnce(_ rotations: Int) throws {
        let (left, right) = try pair()
        for text in ["first", "second", "third"] { try left.set("a", text) }
        try merge(left, into: right)
        for _ in 0..<rotations { try left.rotate() }
        try left.set("b", "1")
        try merge(left, into: right)
        #expect(try right.states() == left.states())
        #expect(try right.text("a") == "third" && right.earlierTexts("a") == ["second", "first", "base"])
        #expect(try merge(left, into: right).changed == [])
        // Where both have changed a name, its values of before come from both.
        let now = Clock.milliseconds + 10
        try set("a", "here", at: now, in: right)
        try left.rotate()
        try set("a", "there", at: now + 1, in: left)
        try merge(left, into: right)
        try merge(right, into: left)
        #expect(try right.states() == left.states())
        #expect(try right.text("a") == "there")
        #expect(try right.earlierTexts("a") == ["here", "third", "second", "first", "base"])
    }

    @Test func differentValuesOfOneTimeAndLengthAreNotTakenForOne() throws {
        let (left, right) = try pair()
        try left.rotate()
        let now = Clock.milliseconds + 10
        try set("a", "left!", at: now, in: left)
        try set("a", "right", at: now, in: right)
        try merge(right, into: left)
        #expect(allTexts(try left.states()) == [["a", "base"], ["a", "left!"], ["a", "right"]])
        try left.verify()
    }

    private func allTexts(_ states: [String: NameState]) -> Set<[String]> {
        var texts: Set<[String]> = []
        for (name, state) in states {
            for text in state.earlier.map(\.text) + (state.present.map { [$0] } ?? []) { texts.insert([name, text]) }
        }
        return texts
    }

    // MARK: What counts

    private func pair(_ names: [String: String] = ["a": "base"]) throws -> (left: SealedLog, right: SealedLog) {
        let log = try fixture.open()
        for (name, text) in names { try log.set(name, text) }
        return (try copy("left", of: fixture.bytes), try copy("right", of: fixture.bytes))
    }

    private func set(_ name: String, _ text: String, at time: UInt64, in log: SealedLog) throws {
        try log.commit([log.change(name, to: Array(text.utf8))], at: time)
    }

    @Test func theLaterValueCountsAndTheOtherIsHistory() throws {
        let (left, right) = try pair()
        let now = Clock.milliseconds
        try set("a", "left", at: now + 2, in: left)
        try set("a", "right", at: now + 1, in: right)
        let report = try merge(right, into: left)
        #expect(report.changed == ["a"] && report.conflicts == ["a"])
        #expect(try merge(left, into: right).conflicts == [])
        for log in [left, right] {
            #expect(try log.text("a") == "left")
            #expect(try log.earlierTexts("a") == ["right", "base"])
        }
    }

    @Test func aRemovalCountsIfItIsLater() throws {
        let (left, right) = try pair(["a": "base", "b": "base"])
        let now = Clock.milliseconds
        try set("a", "left", at: now + 1, in: left)
        try right.commit([right.change("a", to: nil)], at: now + 2)
        try set("b", "left", at: now + 2, in: left)
        try right.commit([right.change("b", to: nil)], at: now + 1)
        #expect(try merge(right, into: left).conflicts == ["a", "b"])
        #expect(try left.text("a") == nil)
        #expect(try left.earlierTexts("a") == ["left", "base"])
        #expect(try left.text("b") == "left")
        #expect(try left.earlierTexts("b") == ["base"])
        #expect(try left.verify().entries == 1)
    }

    @Test(arguments: [true, false]) func whatOneSideAloneHasChangedIsNoConflict(_ isOther: Bool) throws {
        _ = try pair(["a": "base", "b": "base", "c": "base", "removed": "base"])
        try fixture.open().remove("removed")
        let logs = (try copy("left", of: fixture.bytes), try copy("right", of: fixture.bytes))
        let (left, right) = isOther ? (logs.1, logs.0) : logs
        try left.set("a", "left")
        try left.remove("b")
        try left.make(changes: [left.restoring("a", 0)])
        try left.set("removed", "left")
        try left.set("new", "left")
        for number in 0..<3 { try left.set("c", "\(number)") }
        let states = try left.states()
        let report = try merge(logs.1, into: logs.0)
        #expect(report.conflicts == [])
        #expect(report.changed == (isOther ? ["a", "b", "c", "new", "removed"] : []))
        #expect(try logs.0.states() == states)
        try merge(logs.0, into: logs.1)
        #expect(try right.states() == states)
    }

    /// One has restored what the other one still had before: neither knew of the other.
    @Test func aRestoredVersionThatTheOtherSideHasReplacedIsAConflict() throws {
        let (left, right) = try pair()
        try left.set("a", "left")
        try left.make(changes: [left.restoring("a", 0)])
        try right.set("a", "right")
        #expect(try merge(right, into: left).conflicts == ["a"])
        #expect(try Set(left.earlierTexts("a") + [left.text("a")]) == ["left", "base", "right"])
    }

    @Test(arguments: [false, true]) func whatOneSideHasPurgedDoesNotComeBack(wasMergedBefore: Bool) throws {
        let (left, right) = try pair(["a": "base", "b": "base"])
        for log in [left, right] { try log.set("b", "later") }
        if wasMergedBefore {
            try merge(right, into: left)
            try merge(left, into: right)
        }
        try left.make(changes: [left.forgetting("a")])
        try merge(right, into: left)
        try merge(left, into: right)
        for log in [left, right] {
            #expect(try log.text("a") == nil)
            #expect(try log.earlierTexts("a") == [])
        }
        try right.set("a", "anew")
        try merge(right, into: left)
        #expect(try left.text("a") == "anew")
        #expect(try left.earlierTexts("a") == [])
    }

    @Test func theLimitsOfTheHistoryDoNotCutAMerge() throws {
        let fixture = try LogFixture(history: KeptHistory(versions: 2, days: 90))
        let left = try fixture.open()
        try left.set("a", "base")
        let path = fixture.folder.file("right.vault")
        try overwrite(path, fixture.bytes)
        let right = try openApart(path, options: SealedLog.Options(), readKey: fixture.key)
        for number in 0..<3 {
            try left.set("a", "left \(number)")
            try right.set("a", "right \(number)")
        }
        try merge(right, into: left)
        #expect(try left.earlierTexts("a").count == 5)
        try left.compact()
        #expect(try left.earlierTexts("a").count == 5)
        try left.set("a", "last")
        #expect(try left.earlierTexts("a").count == 2)
    }

    @Test func aLargeCopyIsMergedInSteps() throws {
        let (left, right) = try pair()
        try right.make((0..<2_500).map { ("name \($0)", Array("right \($0)".utf8)) })
        for number in 0..<3 { try right.set("large \(number)", RandomBytes.array(9 << 20)) }
        let progress = UpkeepProgress()
        let report = try left.merge(right, timeout: SealedLog.patience, progress)
        #expect(report.changed.count == 2_503)
        #expect(report.changed == report.changed.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        #expect(try left.state() == right.state())
        try left.expectTotalsToBeRight()
        try left.verify()
    }

    // MARK: Refusals and alarms

    @Test func anotherVaultIsRefusedAndNothingChanges() throws {
        let log = try fixture.open()
        try log.set("a", "here")
        let another = try LogFixture(history: MergeTests.history)
        let other = try another.open()
        try other.set("b", "there")
        let bytes = try fixture.bytes
        #expect(try LogError.code { try merge(other, into: log) } == .invalid)
        #expect(try fixture.bytes == bytes)
    }

    @Test func ofADamagedCopyNothingIsTakenThatDoesNotAuthenticate() throws {
        let (left, right) = try pair()
        try right.set("b", "there")
        // Of a record in the log, opening or following it would tell.
        try right.compact()
        let offset = try #require(right.view.withLock { try $0.find(.sample("b")) }?.content?.current.offset)
        var bytes = try bytes(right)
        bytes[Int(offset)] ^= 1
        let damaged = try copy("damaged", of: bytes)
        #expect(try LogError.code { try merge(damaged, into: left) } == .copyDamaged)
        #expect(try left.text("b") == nil)
        #expect(try left.text("a") == "base")
        try left.verify()
    }

    /// A copy in which an earlier value of `a` is the present one again, and this side, in which it does not open.
    private func pairWithARestoredValue(rotating: Bool) throws -> (damaged: SealedLog, restored: SealedLog) {
        let log = try fixture.open()
        try log.set("a", "first")
        try log.set("a", "second")
        // In a record, its payload would tell.
        try log.compact()
        let restored = try copy("restored", of: fixture.bytes)
        if rotating { try log.rotate() }
        var bytes = try fixture.bytes
        bytes[Int(try #require(try log.history(.sample("a"))?.earlier.first?.version.offset))] ^= 1
        if !rotating { try overwrite(fixture.folder.file("restored"), bytes) }
        // As somebody has done it whose program does not look whether the value opens.
        let entry = try #require(try restored.history(.sample("a")))
        var former = try #require(entry.former)
        former.modified = entry.modified + 1
        former.sequence = 100
        try restored.write(former, [nil])
        return (try copy("damaged", of: bytes), restored)
    }

    @Test func aValueThatDoesNotOpenDoesNotBecomeThePresentOne() throws {
        let (damaged, restored) = try pairWithARestoredValue(rotating: false)
        #expect(try LogError.code { _ = try restored.text("a") } == .damaged)
        #expect(try LogError.code { try merge(restored, into: damaged) } == .copyDamaged)
        #expect(try damaged.text("a") == "second")
    }

    @Test func aValueThatDoesNotOpenComesFromTheCopyInWhichItDoes() throws {
        let (damaged, restored) = try pairWithARestoredValue(rotating: true)
        #expect(try restored.text("a") == "first")
        #expect(try merge(restored, into: damaged).changed == ["a"])
        #expect(try damaged.text("a") == "first")
        try damaged.compact()
        try damaged.verify()
    }

    /// Three machines with a copy each; two of them are merged.
    private struct Machines {
        let fixture: LogFixture
        let former: [[UInt8]]
        let merged: [UInt8]

        init(_ fixture: LogFixture, rotating: Bool = false) throws {
            self.fixture = fixture
            let log = try fixture.open()
            for number in 0..<5 { try log.set("a", "\(number)") }
            let base = try fixture.bytes
            var former: [[UInt8]] = []
            for machine in 0..<3 {
                try overwrite(fixture.path, base)
                let log = try Machines.open(fixture, machine)
                for number in 0..<3 { try log.set("of \(machine)", "\(number)") }
                if machine == 1 { try log.compact() }
                // The second one is ahead of what merging adds to the first.
                for number in 0..<(machine == 1 ? 20 : 2) { try log.set("more of \(machine)", "\(number)") }
                former.append(try fixture.bytes)
            }
            let path = fixture.folder.file("other.vault")
            try overwrite(path, former[1])
            let other = try openApart(path, options: SealedLog.Options(), readKey: fixture.key)
            try overwrite(fixture.path, former[0])
            let first = try Machines.open(fixture, 0)
            if rotating { try first.rotate() }
            _ = try first.merge(other, taking: .all, timeout: SealedLog.patience)
            self.former = former
            merged = try fixture.bytes
        }

        static func open(_ fixture: LogFixture, _ machine: Int) throws -> SealedLog {
            let options = SealedLog.Options(memoryFolder: fixture.folder.file("memory \(machine)"))
            return try openApart(fixture.path, options: options, readKey: fixture.key)
        }

        /// What a machine says of these bytes.
        func alarm(_ machine: Int, _ bytes: [UInt8]) throws -> LogError.Code? {
            try replace(fixture.path, with: bytes)
            return try LogError.code { _ = try Machines.open(fixture, machine).text("a") }
        }
    }

    @Test(arguments: [false, true]) func bothMachinesAcceptWhatWasMergedAndNoFileFromBefore(rotating: Bool) throws {
        let machines = try Machines(fixture, rotating: rotating)
        for machine in [0, 1] {
            #expect(try machines.alarm(machine, machines.merged) == nil)
            for former in machines.former[..<2] { #expect(try machines.alarm(machine, former) == .rolledBack) }
            #expect(try machines.alarm(machine, machines.merged) == nil)
        }
        let log = try Machines.open(fixture, 1)
        #expect(try log.text("more of 0") == "1")
        #expect(try log.text("more of 1") == "19")
        #expect(try log.text("of 2") == nil)
    }

    @Test func aThirdCopyThatWasNotMergedHasDiverged() throws {
        let machines = try Machines(fixture)
        #expect(try machines.alarm(2, machines.merged) == .diverged)
        // And this is said of it on the other machines.
        #expect(try machines.alarm(0, machines.merged) == nil)
        #expect(try machines.alarm(0, machines.former[2]) == .rolledBack)
    }

    @Test func whatWasMergedStaysKnownThroughCompactions() throws {
        let machines = try Machines(fixture)
        try replace(fixture.path, with: machines.merged)
        let log = try fixture.open()
        for round in 0..<3 {
            for number in 0..<20 { try log.set("later", "\(round) \(number)") }
            try log.compact()
        }
        let later = try fixture.bytes
        #expect(try machines.alarm(1, later) == nil)
        #expect(try machines.alarm(2, later) == .diverged)
    }
}
