import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// What a name had before is kept, as long and as often as the vault says.
@Suite("History")
struct HistoryTests {
    private static let day: UInt64 = 86_400_000
    private let fixture: LogFixture
    private let log: SealedLog
    private let now = Clock.milliseconds

    init() throws {
        fixture = try LogFixture(history: .standard)
        log = try fixture.open()
    }

    private func set(_ name: String, _ text: String, daysAgo days: UInt64, expiry: UInt64? = nil) throws {
        let change = try log.change(name, to: Array(text.utf8), expiry: expiry)
        try log.commit([change], at: now - days * HistoryTests.day)
    }

    private func keep(_ history: KeptHistory) throws {
        _ = try log.changeKeys(timeout: SealedLog.patience) { $0.history = history }
    }

    /// A clock that is a day ahead at most is followed, so that each state is later than the one before.
    @Test(arguments: [1, 60_000, TimeLimit.tolerance - 60_000])
    func aStateIsLaterThanTheOneBefore(_ ahead: UInt64) throws {
        let time = Clock.milliseconds + ahead
        try log.commit([log.change("a", to: Array("first".utf8))], at: time)
        try log.set("a", "second")
        #expect(try log.states()["a"]?.modified ?? 0 >= time + 1)
        #expect(ahead == 1 ? true : try log.states()["a"]?.modified == time + 1)
    }

    /// A clock was wrong, or the file of someone with the key is odd: what is set then has the time of now.
    @Test(arguments: [253_402_300_799_999, 1 << 62, 1 << 63, .max - 1, .max] as [UInt64])
    func aTimeThatNoClockCanHaveSetEnds(_ time: UInt64) throws {
        let before = Clock.milliseconds
        try log.commit([log.change("a", to: Array("first".utf8))], at: time)
        #expect(try log.states()["a"]?.modified == time)
        try log.set("a", "second")
        #expect((before...Clock.milliseconds).contains(try #require(try log.states()["a"]?.modified)))
        let created = try #require(try log.history(.sample("a"))?.content?.created)
        #expect(created <= Clock.milliseconds, "it was created no later than it was changed")
        try log.remove("a")
        #expect(try log.states()["a"]?.modified ?? .max <= Clock.milliseconds + 1)
        #expect(try log.earlierTexts("a") == ["second", "first"])
        try log.verify()
        try log.compact()
        #expect(try log.earlierTexts("a") == ["second", "first"])
    }

    /// A machine whose clock is from before the vault does not take everybody else's times for impossible.
    @Test(arguments: [0, 1_000]) func aClockFromBeforeTheVaultFollowsWhatIsThere(_ now: UInt64) throws {
        try log.set("a", "first")
        let former = try #require(try log.states()["a"]?.modified)
        try log.commit([log.change("a", to: Array("second".utf8))], at: now)
        #expect(try log.states()["a"]?.modified == former + 1)
    }

    // MARK: Limits

    @Test func theNewestTenVersionsAreKept() throws {
        for number in 0..<15 { try log.set("a", "\(number)") }
        #expect(try log.text("a") == "14")
        #expect(try log.earlierTexts("a") == (4..<14).reversed().map(String.init))
    }

    @Test func aVaultThatKeepsNoneHasNone() throws {
        let fixture = try LogFixture()
        let log = try fixture.open()
        for number in 0..<3 { try log.set("a", "\(number)") }
        try log.remove("a")
        #expect(try log.earlierTexts("a") == [])
    }

    @Test func whatWasReplacedMoreThan90DaysAgoIsDroppedByTheNextChange() throws {
        try set("a", "first", daysAgo: 200)
        try set("a", "second", daysAgo: 91)
        try set("a", "third", daysAgo: 89)
        // The second was set long ago, but replaced a day too late to be dropped.
        #expect(try log.earlierTexts("a") == ["second", "first"])
        try log.set("a", "fourth")
        #expect(try log.earlierTexts("a") == ["third", "second"])
    }

    @Test func aCompactionDropsWhatIsTooOld() throws {
        try set("a", "first", daysAgo: 200)
        try set("a", "second", daysAgo: 91)
        try set("a", "third", daysAgo: 89)
        try set("b", "first", daysAgo: 200)
        try log.commit([log.change("b", to: nil)], at: now - 91 * HistoryTests.day)
        try set("c", "first", daysAgo: 200)
        try log.commit([log.change("c", to: nil)], at: now - 89 * HistoryTests.day)
        try log.compact()
        #expect(try log.earlierTexts("a") == ["second"])
        #expect(try log.history(.sample("b")) == nil)
        #expect(try log.earlierTexts("c") == ["first"])
        #expect(try log.verify().entries == 1)
        try log.expectTotalsToBeRight()
    }

    @Test func otherLimitsHoldFromThenOnAndForWhatIsThere() throws {
        for number in 0..<8 { try log.set("a", "\(number)") }
        try keep(KeptHistory(versions: 3, days: 90))
        #expect(try log.earlierTexts("a") == ["6", "5", "4"])
        try log.set("a", "8")
        #expect(try log.earlierTexts("a") == ["7", "6", "5"])
        #expect(try fixture.open().keySlots().history == KeptHistory(versions: 3, days: 90))
        try keep(.none)
        #expect(try log.earlierTexts("a") == [])
        try log.set("a", "9")
        #expect(try log.earlierTexts("a") == [])
        #expect(try log.text("a") == "9")
        try log.verify()
    }

    /// The limits of the file decide, not those that another process knew when it opened it.
    @Test func limitsThatAnotherProcessHasSetHold() throws {
        let other = try fixture.open()
        for number in 0..<4 { try other.set("a", "\(number)") }
        try keep(KeptHistory(versions: 1, days: 90))
        try other.set("a", "4")
        #expect(try other.earlierTexts("a") == ["3"])
    }

    // MARK: Changes

    @Test func aRemovedNameIsAbsentAndKeepsWhatItHad() throws {
        try log.set("a", "first")
        try log.set("a", "second")
        try log.remove("a")
        for isCompacted in [false, true] {
            if isCompacted { try log.compact() }
            for reader in [log, try fixture.open()] {
                #expect(try reader.text("a") == nil)
                #expect(try reader.entries().isEmpty)
                #expect(try reader.earlierTexts("a") == ["second", "first"])
                #expect(try reader.verify().entries == 0)
            }
        }
        try log.set("a", "third")
        #expect(try log.earlierTexts("a") == ["second", "first"])
    }

    @Test func anEarlierVersionIsOpenedByItsNonce() throws {
        for text in ["first", "second", "third"] { try log.set("a", text) }
        let name = try EntryName.sample("a")
        let versions = try #require(try log.history(name)).versions
        #expect(try versions.map { try opened(name, $0.nonce) } == ["third", "second", "first"])
        #expect(try opened(name, randomNonce()) == nil)
        #expect(try opened(.sample("b"), versions[0].nonce) == nil)
    }

    private func opened(_ name: EntryName, _ nonce: Nonce) throws -> String? {
        guard let value = try log.open(name, version: nonce) else { return nil }
        return String(decoding: value.takeBytes().unsafeArray(), as: UTF8.self)
    }

    @Test func aRestoredVersionIsTheValueAgainInTheSameBox() throws {
        let attributes = [Attribute(key: "k", value: "v")]
        try log.make(changes: [log.change("a", to: Array("first".utf8), attributes: attributes)])
        for text in ["second", "third"] { try log.set("a", text) }
        let before = try #require(try log.history(.sample("a")))
        let size = log.view.withLock { $0.end }
        let dead = try log.information().deadBytes
        try log.make(changes: [log.restoring("a", 1)])
        let after = try #require(try log.history(.sample("a")))
        #expect(try log.text("a") == "first")
        #expect(after.content?.current == before.earlier[1].version)
        #expect(after.content?.attributes == attributes)
        #expect(after.content?.created == before.content?.created)
        #expect(try log.earlierTexts("a") == ["third", "second"])
        // The record has no payload, and no box is dead.
        #expect(log.view.withLock { $0.end } - size < 512)
        #expect(try log.information().deadBytes - dead == before.sizeWithoutOffsets)
        try log.verify()
        try log.compact()
        #expect(try log.text("a") == "first")
        #expect(try log.earlierTexts("a") == ["third", "second"])
    }

    @Test func whatIsNotKeptCannotBeRestored() throws {
        try log.set("a", "first")
        try log.set("a", "second")
        let name = try EntryName.sample("a")
        let state = try log.states()
        let present = try #require(try log.history(name)?.content?.current.nonce)
        var nonces = NonceSource()
        let another = try OpenedVersion(log.seal(SecretBytes(copyOf: Array("third".utf8)), kind: 1, nonces: &nonces))
        for opened in [another, try #require(try log.openedVersion(of: name, present))] {
            let change = Change(name, .anything, .restore(opened))
            let other = try log.change("b", to: [1])
            #expect(try LogError.code { try log.make(changes: [other, change]) } == .conflict)
        }
        let elsewhere = Change(try .sample("b"), .anything, try log.restoring("a", 0).action)
        #expect(try LogError.code { try log.make(changes: [elsewhere]) } == .conflict)
        #expect(try log.states() == state)
    }

    @Test func aRemovedNameIsRestoredWithoutItsAttributes() throws {
        try log.set("a", "first")
        try log.remove("a")
        try log.make(changes: [log.restoring("a", 0)])
        #expect(try log.text("a") == "first")
        #expect(try log.earlierTexts("a") == [])
        #expect(try log.information().entries == 1)
    }

    @Test func aVersionIsRestoredInARecordWithATreeToo() throws {
        for number in 0..<40 { for text in ["first", "second"] { try log.set("name \(number)", text) } }
        let restoring = try (0..<20).map { try log.restoring("name \($0)", 0) }
        let setting = try (20..<600).map { try log.change("name \($0)", to: Array("third".utf8)) }
        try log.make(changes: restoring + setting)
        #expect(log.view.withLock { $0.minor } != nil)
        for reader in [log, try fixture.open()] {
            #expect(try reader.text("name 7") == "first")
            #expect(try reader.earlierTexts("name 7") == ["second"])
            #expect(try reader.earlierTexts("name 30") == ["second", "first"])
            #expect(try reader.verify().entries == 600)
        }
        try log.expectTotalsToBeRight()
    }

    @Test func aNameThatATransactionSetsTwiceKeepsNoValueInBetween() throws {
        try log.set("a", "first")
        try log.make(changes: ["second", "third"].map { try log.change("a", to: Array($0.utf8)) })
        #expect(try log.text("a") == "third")
        #expect(try log.earlierTexts("a") == ["first"])
        try log.make(changes: [log.change("a", to: [4]), log.change("a", to: nil)])
        #expect(try log.earlierTexts("a") == ["third", "first"])
        try log.verify()
    }

    /// Each of them was acknowledged to somebody.
    @Test func transactionsThatShareARecordKeepTheirValues() throws {
        try log.set("a", "first")
        let texts = ["second", "third"]
        let plan = try log.view.withLock { view in
            var batch = TransactionBatch(totals: try view.currentTotals())
            for text in texts {
                let changes = ChangeList([try log.change("a", to: Array(text.utf8))])
                _ = try batch.add(changes, view.circumstances(at: now)) { (name) throws(LogError) in
                    try view.find(name)
                }
            }
            return try #require(try view.shortPlan(batch))
        }
        try log.writer.withLock { _ in try log.append(plan) }
        for reader in [log, try fixture.open()] {
            #expect(try reader.text("a") == "third")
            #expect(try reader.earlierTexts("a") == ["second", "first"])
            try reader.verify()
        }
        try log.expectTotalsToBeRight()
    }

    @Test func aValueThatHasExpiredBecomesHistoryWhenTheNameChanges() throws {
        let yesterday = now - HistoryTests.day
        for name in ["a", "b", "c"] { try set(name, "expired", daysAgo: 2, expiry: yesterday) }
        #expect(try log.text("a") == nil)
        try log.set("a", "second")
        try log.remove("b")
        #expect(try log.earlierTexts("a") == ["expired"])
        #expect(try log.earlierTexts("b") == ["expired"])
        // It does not expire any more: what is restored is wanted now.
        try log.make(changes: [log.restoring("b", 0)])
        #expect(try log.text("b") == "expired")
        #expect(try log.entry(.sample("b"))?.content?.expiry == nil)
        #expect(try log.text("c") == nil)
    }

    @Test func aNameThatIsForgottenLeavesNoEarlierVersion() throws {
        for name in ["a", "b"] { for text in ["first", "second"] { try log.set(name, text) } }
        try log.remove("b")
        // The second one is removed already.
        try log.make(changes: [log.forgetting("a"), log.forgetting("b"), log.forgetting("c")])
        for name in ["a", "b"] {
            #expect(try log.history(.sample(name))?.isRemoved == true)
            #expect(try log.earlierTexts(name) == [])
        }
        #expect(try log.history(.sample("c")) == nil)
        let head = log.view.withLock { $0.head }
        try log.make(changes: [log.forgetting("a")])
        #expect(log.view.withLock { $0.head } == head)
        try log.expectTotalsToBeRight()
        #expect(try log.information().liveBytes == 0)
    }

    @Test func aValueThatIsSetAnewCanForgetWhatWasBefore() throws {
        for text in ["first", "second"] { try log.set("a", text) }
        let change = try log.change("a", to: Array("third".utf8))
        try log.make(changes: [Change(change.name, .anything, change.action, forgets: true)])
        #expect(try log.text("a") == "third")
        #expect(try log.earlierTexts("a") == [])
    }

    // MARK: Bounds

    @Test func theOldestVersionsMakeRoomForWhatAnEntryHasToHold() throws {
        try keep(KeptHistory(versions: 255, days: 90))
        let count = 300
        try log.make(changes: [log.change("a", to: Array("0".utf8))])
        for number in 1..<count { try log.commit([log.change("a", to: Array("\(number)".utf8))], at: now) }
        let entry = try #require(try log.history(.sample("a")))
        var writer = ByteWriter()
        writer.entry(entry)
        #expect(writer.count <= Limits.entrySize)
        #expect(entry.earlier.count > 150)
        let kept = try log.earlierTexts("a")
        #expect(kept == (0..<count - 1).reversed().prefix(entry.earlier.count).map(String.init))

        let attribute = Attribute(key: "k", value: String(repeating: "x", count: 7_500))
        try log.make(changes: [log.change("a", to: [1], attributes: [attribute])])
        let full = try #require(try log.history(.sample("a")))
        #expect((1..<20).contains(full.earlier.count))
        try log.compact()
        #expect(try log.history(.sample("a"))?.earlier.count == full.earlier.count)
        #expect(try log.verify().entries == 1)
        try log.expectTotalsToBeRight()
    }

    // MARK: Totals

    /// Every entry and every box that was ever written is either live or dead, each counted once.
    @Test(arguments: 0..<10) func totalsAreWhatACountGives(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        var written = 0
        var boxes = [Nonce: Int]()
        var vault = CopiedVault(log, "value", of: 0..<12, now: now - 1_000)
        for _ in 0..<60 {
            let former = Dictionary(uniqueKeysWithValues: try log.entriesWithHistory().map { ($0.name, $0) })
            try vault.work(1, &generator)
            for entry in try log.entriesWithHistory() where former[entry.name] != entry {
                // A tombstone without a history counts as nothing.
                if !entry.isRemoved || !entry.earlier.isEmpty { written += entry.sizeWithoutOffsets }
                for version in entry.versions { boxes[version.nonce] = version.boxLength }
            }
            let live = try log.entriesWithHistory().reduce(0) { $0 + Int($1.footprint) }
            let information = try log.information()
            #expect(information.liveBytes == live, "seed \(seed)")
            #expect(information.deadBytes == written + boxes.values.reduce(0, +) - live, "seed \(seed)")
        }
        let live = try log.information().liveBytes
        try log.compact()
        #expect(try log.information().liveBytes == live)
        #expect(try log.information().deadBytes == 0)
    }

    // MARK: Copies

    @Test func aCompactionMovesAllVersionsAndDropsNone() throws {
        for number in 0..<30 {
            for version in 0..<number % 5 + 1 { try log.set("name \(number)", "\(number) \(version)") }
            if number.isMultiple(of: 7) { try log.remove("name \(number)") }
        }
        let states = try log.states()
        for _ in 0..<2 {
            try log.compact()
            for reader in [log, try fixture.open()] {
                #expect(try reader.states() == states)
                try reader.verify()
            }
        }
    }

    @Test(arguments: [1, 300]) func aCompactionKeepsTheHistoryOfWhatIsWrittenBesideIt(_ count: Int) throws {
        for number in 0..<400 { try log.set("name \(number)", "first \(number)") }
        for number in 0..<20 { try log.set("restored \(number)", "first") }
        for number in 0..<20 { try log.set("restored \(number)", "second") }
        let files = FaultyFileSystem()
        let left = unpublishedPath(for: fixture.path)
        let hasRun = Flag()
        let compacting = try fixture.open(in: files)
        files.watch(.write) { [log] call in
            guard call.path == left, !hasRun.isSet else { return }
            hasRun.set()
            do {
                for number in 0..<count { try log.set("name \(number)", "second \(number)") }
                for number in 0..<20 { try log.make(changes: [log.restoring("restored \(number)", 0)]) }
                try log.remove("name 399")
                try log.make(changes: [log.forgetting("name 398")])
            } catch { Issue.record(error) }
        }
        try compacting.compact()
        #expect(hasRun.isSet)
        for reader in [log, compacting, try fixture.open()] {
            for number in 0..<count { #expect(try reader.earlierTexts("name \(number)") == ["first \(number)"]) }
            for number in 0..<20 {
                #expect(try reader.text("restored \(number)") == "first")
                #expect(try reader.earlierTexts("restored \(number)") == ["second"])
            }
            #expect(try reader.earlierTexts("name 399") == ["first 399"])
            #expect(try reader.earlierTexts("name 398") == [])
            try reader.verify()
        }
        try log.expectTotalsToBeRight()
        try expectNoNonceTwice(log.view.withLock { $0 })
    }

    /// A version that is in the checkpoint needs no second box behind it.
    private func expectNoNonceTwice(_ view: LogView) throws {
        var offsets: [Nonce: UInt64] = [:]
        for root in [view.header.root, view.minor?.root] {
            var cursor = try TreeCursor(root: root, loader: view.loader)
            while let entry = try cursor.next() {
                for version in entry.versions { offsets[version.nonce] = version.offset }
            }
        }
        for entry in try log.entriesWithHistory() {
            for version in entry.versions { #expect(offsets[version.nonce, default: version.offset] == version.offset) }
        }
    }

    @Test func aSalvageKeepsHistories() throws {
        for number in 0..<10 {
            for version in 0..<4 { try log.set("name \(number)", "\(number) \(version)") }
        }
        try log.remove("name 3")
        try log.compact()
        for number in 0..<4 { try log.set("name \(number)", "last") }
        let states = try log.states()
        let target = fixture.folder.file("salvaged.vault")
        let report = try SealedLog.salvage(
            fixture.path, to: target, key: fixture.key(), options: fixture.options(), in: PosixFileSystem())
        #expect(report.isComplete)
        let salvaged = try openApart(target, options: SealedLog.Options(), readKey: fixture.key)
        #expect(try salvaged.states() == states)
        try salvaged.verify()
        // Otherwise `undo` takes back everything that the salvage has saved.
        #expect(try salvaged.newestChange(prefix: []).isEmpty)
        try salvaged.set("name 2", "after")
        #expect(try salvaged.newestChange(prefix: []).map(\.name.text) == ["name 2"])
    }
}
