import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// A file synchronization has put another machine's copy in the vault's place, and the own one beside it.
@Suite("A vault that is opened to be merged")
struct JoiningTests {
    private let fixture: LogFixture
    private let (copy, older): (String, String)

    init() throws {
        fixture = try LogFixture(history: .standard)
        copy = fixture.folder.file("copy.vault")
        older = fixture.folder.file("older.vault")
        let log = try fixture.open(remembering: true)
        try log.set("base", "0")
        try overwrite(older, try fixture.bytes)
        try log.set("here", "1")
        try overwrite(copy, try fixture.bytes)
        let other = fixture.folder.file("other.vault")
        try overwrite(other, try contents(older))
        for name in ["there", "there too"] { try apart(other).set(name, "2") }
        try replace(fixture.path, with: try contents(other))
    }

    private func apart(_ path: String) throws -> SealedLog {
        try openApart(path, options: SealedLog.Options(), readKey: fixture.key)
    }

    private func open(joining paths: [String], keepsHeads: Bool = false) throws -> SealedLog {
        var options = SealedLog.Options(memoryFolder: fixture.memory, joined: try paths.map(apart))
        options.keepsHeads = keepsHeads
        return try openApart(fixture.path, options: options, readKey: fixture.key)
    }

    private func add(_ text: String, to table: inout SlotTable) throws(LogError) {
        try table.add(passphrase(text), limits: .low, label: text)
    }

    private var alarm: LogError.Code? {
        get throws { try LogError.code { _ = try fixture.open(remembering: true) } }
    }

    @Test func needsACopyThatHasWhatIsRemembered() throws {
        #expect(try alarm == .diverged)
        #expect(try LogError.code { _ = try open(joining: [older]) } == .diverged, "one change is missing")
        let log = try open(joining: [older, copy])
        _ = try log.merge(apart(copy), timeout: SealedLog.patience)
        try log.finishJoining()
        #expect(try alarm == nil)
        let states = try fixture.open(remembering: true).state().keys
        #expect(Set(states) == ["base", "here", "there", "there too"])
    }

    @Test func isRememberedAgainOnceItIsMerged() throws {
        let log = try open(joining: [copy])
        _ = try log.merge(apart(copy), timeout: SealedLog.patience)
        try log.finishJoining()
        try log.set("later", "3")
        let newest = try fixture.bytes
        try replace(fixture.path, with: try contents(copy))
        #expect(try alarm == .rolledBack)
        try replace(fixture.path, with: newest)
        #expect(try alarm == nil)
    }

    /// Whatever is written before, the alarm is raised again.
    @Test(arguments: [0, 1, 3]) func remembersNothingBefore(changes: Int) throws {
        let log = try open(joining: [copy])
        for number in 0..<changes { try log.set("later \(number)", "3") }
        #expect(try LogError.code { try log.finishJoining() } == .diverged)
        #expect(try alarm == .diverged)
        #expect(try log.state()["here"] == nil)
    }

    @Test func anOlderFileIsMergedToo() throws {
        try replace(fixture.path, with: try contents(older))
        #expect(try alarm == .rolledBack)
        let log = try open(joining: [copy])
        _ = try log.merge(apart(copy), timeout: SealedLog.patience)
        try log.finishJoining()
        #expect(try alarm == nil)
        #expect(try fixture.open(remembering: true).text("here") == "1")
    }

    /// The file in the vault's place is older: a key that was removed since is in it still.
    @Test(arguments: [true, false]) func theKeysAndLimitsOfTheCopyThatIsRememberedCount(isFirst: Bool) throws {
        try replace(fixture.path, with: try contents(copy))
        let log = try fixture.open(remembering: true)
        _ = try log.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            try add("of who has left", to: &table)
        }
        try log.set("meanwhile", "4")
        try overwrite(older, try fixture.bytes)
        let lost = try log.keySlots().slots[1].salt
        _ = try log.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            try table.remove(lost)
            try add("of who has come", to: &table)
            table.history = KeptHistory(versions: 3, days: 7)
        }
        let header = try fixture.header
        #expect(header.history == KeptHistory(versions: 3, days: 7))
        try overwrite(copy, try fixture.bytes)
        // It has gone on apart, and another copy has what nobody remembers.
        let other = fixture.folder.file("third.vault")
        try overwrite(other, try contents(older))
        try apart(older).set("apart", "5")
        try apart(other).set("elsewhere", "6")
        try replace(fixture.path, with: try contents(older))
        let joined = try open(joining: [copy])
        let order = isFirst ? [copy, other] : [other, copy]
        let reports = try order.map { try joined.merge(self.apart($0), timeout: SealedLog.patience) }
        try joined.finishJoining()
        let expected: [MergeReport.Keys] = isFirst ? [.other, .own] : [.same, .other]
        #expect(reports.map(\.keys) == expected)
        #expect(try fixture.header.slots == header.slots && fixture.header.history == header.history)
        #expect(try joined.keySlots().labels.map(\.text) == ["a label", "of who has come"])
        #expect(try Set(joined.state().keys) == ["base", "here", "meanwhile", "apart", "elsewhere"])
    }

    /// What this machine remembers was written under a data key that the file in the vault's place does not know.
    @Test func theCopysKeysTellWhatIsRemembered() throws {
        let other = try fixture.bytes
        try replace(fixture.path, with: try contents(copy))
        try fixture.open(remembering: true).rotate()
        let rotated = fixture.folder.file("rotated.vault")
        try overwrite(rotated, try fixture.bytes)
        try replace(fixture.path, with: other)
        #expect(try alarm == .rolledBack)
        #expect(try LogError.code { _ = try open(joining: [copy]) } == .rolledBack)
        let log = try open(joining: [rotated])
        // Whoever was shut out by the rotation may have put this file in the vault's place.
        #expect(try log.merge(apart(rotated), timeout: SealedLog.patience).refusesOwn)
        #expect(try LogError.code { try log.finishJoining() } == .rolledBack)
        _ = try log.merge(apart(rotated), taking: .all, timeout: SealedLog.patience)
        try log.finishJoining()
        #expect(try alarm == nil)
        #expect(try fixture.open(remembering: true).state().count == 4)
    }

    /// The file in the vault's place is from before a rotation, and claims to have had anything.
    @Test(arguments: [-1, 0, 1]) func itsOwnHistoryIsNotBelievedThen(ahead distance: Int) throws {
        try replace(fixture.path, with: try contents(copy))
        let forged = fixture.folder.file("forged.vault")
        try overwrite(forged, try contents(copy))
        let log = try fixture.open(remembering: true)
        try log.rotate()
        try log.set("since", "1")
        try overwrite(copy, try fixture.bytes)
        let head = log.view.withLock { $0.head }
        let claimed = LogPosition(sequence: UInt64(Int(head.sequence) + distance), authenticator: head.authenticator)
        try apart(forged).forge(claiming: claimed)
        try replace(fixture.path, with: try contents(forged))
        let joined = try open(joining: [copy])
        #expect(try joined.merge(apart(copy), timeout: SealedLog.patience).changed == ["since"])
        try joined.finishJoining()
        #expect(try alarm == nil)
        #expect(try fixture.open(remembering: true).text("since") == "1")
    }

    /// The vault was rotated where this machine's copy was not, so that nobody believes what that copy says of its
    /// history. Once all of it is here, it is remembered nevertheless: if the vault lacks some, or if somebody may have
    /// written it who was shut out by the copy's data key, the alarm stays.
    @Test(arguments: [1, 20], [true, false])
    func aRotatedVaultWithAllOfTheCopyIsRemembered(changes: Int, isCopyRotated: Bool) throws {
        let rotated = try fixture.bytes
        try replace(fixture.path, with: try contents(copy))
        let own = try fixture.open(remembering: true)
        for number in 0..<changes { try own.set("here", "\(number)") }
        if isCopyRotated { try own.rotate() }
        try overwrite(copy, try fixture.bytes)
        try replace(fixture.path, with: rotated)
        try apart(fixture.path).rotate()
        #expect(try alarm != nil)
        let log = try open(joining: [copy])
        #expect(try log.merge(apart(copy), timeout: SealedLog.patience).refused == ["here"])
        #expect(try alarm != nil)
        let report = try log.merge(apart(copy), taking: NamesTaken(["here"]), timeout: SealedLog.patience)
        #expect(report.changed == ["here"] && report.refused == [] && report.isOfFormerKey)
        #expect(try alarm == (isCopyRotated ? .rolledBack : nil))
        #expect(try LogError.code { try log.finishJoining() } == (isCopyRotated ? .rolledBack : nil))
        if isCopyRotated { return }
        // It is this one that is remembered from now on.
        try replace(fixture.path, with: rotated)
        #expect(try alarm == .rolledBack)
    }

    /// Whoever was shut out can write a copy that claims to have had what this machine remembers, and lacks it.
    @Test func aCopyThatClaimsWhatIsRememberedEndsNoAlarm() throws {
        let remembered = try apart(copy).view.withLock { $0.head }
        try apart(older).forge(claiming: remembered)
        try apart(fixture.path).rotate()
        #expect(try alarm == .diverged)
        let log = try open(joining: [older])
        let report = try log.merge(apart(older), timeout: SealedLog.patience)
        #expect(report.changed == [] && report.refused == [])
        #expect(try LogError.code { try log.finishJoining() } == .diverged)
        #expect(try alarm == .diverged)
    }

    /// The merged file is not remembered then: what was added is not in it.
    @Test(arguments: [true, false])
    func whatAnotherProcessAddsToTheCopyMeanwhileIsNotForgotten(keepsHeads: Bool) throws {
        try apart(fixture.path).rotate()
        let log = try open(joining: [copy], keepsHeads: keepsHeads)
        let before = try apart(copy)
        let view = try before.read { (view) throws(LogError) in view }
        let remembered = try #require(log.memory.flatMap(Remembered.init))
        let other = SealedLog.Options(memoryFolder: fixture.memory)
        try openApart(copy, options: other, readKey: fixture.key).set("added", "1")
        try log.finishJoining(withAllOf: view, insteadOf: remembered)
        #expect(log.memory?.isHeld == true)
        #expect(try LogError.code { try log.finishJoining() } == .diverged)
        #expect(try LogError.code { _ = try open(joining: [], keepsHeads: keepsHeads) } == .diverged)
    }

    /// It is no reason to say that the vault lacks something: everything is merged.
    @Test func aMemoryThatCannotBeWrittenIsNoticed() throws {
        try apart(fixture.path).rotate()
        let log = try open(joining: [copy])
        let files = PosixFileSystem()
        let seen = "\(fixture.memory)/\(Hexadecimal.string(of: log.vaultID)).seen"
        let holder = try files.open(seen, .read)
        try files.lock(holder, .exclusive, until: Deadline(after: .zero))
        let report = try log.merge(apart(copy), taking: NamesTaken(["here"]), timeout: SealedLog.patience)
        try log.finishJoining()
        #expect(report.changed == ["here"] && report.refused == [])
        #expect(log.takeNotices() == [.memoryUnusable("\(seen) is locked by another process")])
        files.unlock(holder)
        #expect(try alarm == .diverged, "it has not been remembered")
    }

    /// Nothing is left to take over of what was merged elsewhere.
    @Test(arguments: [true, false]) func aRotatedVaultThatHadAllOfTheCopyIsRemembered(isThere: Bool) throws {
        try apart(fixture.path).rotate()
        if isThere {
            let merged = try apart(fixture.path).merge(
                apart(copy), taking: NamesTaken(["here"]), timeout: SealedLog.patience)
            #expect(merged.changed == ["here"])
        }
        #expect(try alarm == .diverged)
        let report = try open(joining: [copy]).merge(apart(copy), timeout: SealedLog.patience)
        #expect(report.changed == [] && report.refused == (isThere ? [] : ["here"]))
        #expect(try alarm == (isThere ? nil : .diverged))
    }

    @Test func anotherVaultIsNeverExplained() throws {
        let other = try LogFixture()
        try overwrite(fixture.keyPath, try contents(other.keyPath))
        try replace(fixture.path, with: try other.bytes)
        #expect(try LogError.code { _ = try open(joining: [fixture.path]) } == .exchanged)
    }
}
