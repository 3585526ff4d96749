import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// A copy takes the place of another file only if it has all that is in it.
@Suite("What a copy replaces")
struct ReplaceableTests {
    private let fixture: LogFixture
    private let files = FaultyFileSystem()
    private let log: SealedLog
    private let target: String

    init() throws {
        fixture = try LogFixture(history: .standard)
        log = try fixture.open()
        target = fixture.folder.file("copy.vault")
        for number in 0..<5 { try log.set("name \(number)", "\(number)") }
    }

    private func open(_ path: String, _ fixture: LogFixture? = nil) throws -> SealedLog {
        try openApart(path, options: SealedLog.Options(), readKey: (fixture ?? self.fixture).key)
    }

    private func copy(_ log: SealedLog? = nil) throws {
        var unlocker = KeyFileUnlocker { [fixture] () throws(LogError) in try fixture.key() }
        _ = try (log ?? self.log).backUp(to: FileLocation(target, in: files), replacing: true, with: &unlocker)
    }

    /// Copies, and expects the target to be left alone.
    private func isLeftAlone(_ code: LogError.Code) throws {
        let bytes = try contents(target)
        let thrown = try LogError.code { try copy() }
        #expect(thrown == code)
        #expect(try contents(target) == bytes)
        #expect(try !FileLocation(unpublishedPath(for: target), in: files).exists())
    }

    private func isReplaced() throws {
        try copy()
        #expect(try open(target).states() == log.states())
    }

    @Test func anEmptyFileIsReplaced() throws {
        try overwrite(target, [])
        try isReplaced()
    }

    @Test func anyOtherByteIsLeftAlone() throws {
        try overwrite(target, [0])
        try isLeftAlone(.notACopy)
    }

    /// How many changes the copy has that the target lacks.
    @Test(arguments: [0, 1, 2]) func anEarlierStateIsReplaced(missing count: Int) throws {
        try copy()
        for number in 0..<count { try log.set("later \(number)", "\(number)") }
        try isReplaced()
    }

    @Test(arguments: [1, 2]) func aLaterStateIsLeftAlone(added count: Int) throws {
        try copy()
        for number in 0..<count { try open(target).set("there \(number)", "\(number)") }
        try isLeftAlone(.notContained)
    }

    /// How many changes the target has since, and how many the copy.
    @Test(arguments: [(1, 1), (1, 2), (2, 1)]) func anotherHistoryIsLeftAlone(there: Int, here: Int) throws {
        try copy()
        for number in 0..<there { try open(target).set("there \(number)", "t\(number)") }
        for number in 0..<here { try log.set("here \(number)", "h\(number)") }
        try isLeftAlone(.notContained)
        let report = try log.merge(open(target), timeout: SealedLog.patience)
        #expect(report.changed.count == there)
        try isReplaced()
    }

    @Test func anotherVaultIsLeftAlone() throws {
        let other = try LogFixture()
        try overwrite(target, try other.bytes)
        try isLeftAlone(.notACopy)
    }

    @Test func aFileWhoseEndIsNotKnownIsLeftAlone() throws {
        try copy()
        let intact = try contents(target)
        let newest = try RecordList(target).records[4]
        for offset in [Header.macOffset, Int(newest.lowerBound) + 40] {
            var bytes = intact
            bytes[offset] ^= 1
            try overwrite(target, bytes)
            try isLeftAlone(.notACopy)
        }
    }

    /// What is damaged in it is in the copy.
    @Test func anEarlierCopyWithADamagedValueIsReplaced() throws {
        try copy()
        var bytes = try contents(target)
        bytes[try Int(RecordList(target).records[2].upperBound) - 1] ^= 1
        try overwrite(target, bytes)
        try isReplaced()
    }

    /// It is under another data key.
    @Test(arguments: [0, 1]) func aStateFromBeforeARotationIsComparedToo(added count: Int) throws {
        try copy()
        if count > 0 { try open(target).set("there", "1") }
        try log.rotate()
        if count > 0 { try isLeftAlone(.notContained) } else { try isReplaced() }
    }

    /// Positions are no secret: a copy from before a rotation can claim those that came after it.
    @Test func aCopyFromBeforeARotationReplacesNothingSinceIt() throws {
        let later = fixture.folder.file("later.vault")
        try overwrite(later, try fixture.bytes)
        try open(later).rotate()
        try open(later).set("there", "1")
        try overwrite(target, try contents(later))
        let claimed = try open(later).view.withLock { $0.head }
        try log.forge(claiming: claimed)
        #expect(try KnownHistory(of: log.view.withLock { $0 }).includes(claimed) == .included)
        try isLeftAlone(.notContained)
    }

    /// The manifest knows the newest positions alone.
    @Test(arguments: [-1, 0, 1]) func aStateOfWhichNothingIsKnownIsLeftAlone(beyond distance: Int) throws {
        try copy()
        let head = try open(target).view.withLock { $0.head.sequence }
        let log = try openApart(
            fixture.path, options: SealedLog.Options(compactsByItself: false), readKey: fixture.key)
        let age = Limits.chainLength + distance
        // The compaction announces itself, and its header is a change too.
        for _ in 0..<age - 2 { try log.commit([log.change("name 0", to: [1])], timeout: SealedLog.patience) }
        try log.compact()
        #expect(log.view.withLock { $0.origin.sequence } == head + UInt64(age))
        if distance <= 0 { try isReplaced() } else { try isLeftAlone(.notCompared) }
    }

    @Test func whatOthersWriteWhileItIsCopiedIsNotLost() throws {
        try copy()
        try log.set("here", "1")
        let left = unpublishedPath(for: target)
        let hasRun = Flag()
        files.watch(.write) { [target, fixture] call in
            guard call.path == left, !hasRun.isSet else { return }
            hasRun.set()
            do {
                try openApart(target, options: SealedLog.Options(), readKey: fixture.key).set("there", "1")
            } catch { Issue.record(error) }
        }
        #expect(try LogError.code { try copy() } == .notContained)
        #expect(hasRun.isSet)
        #expect(try open(target).text("there") == "1")
    }

    @Test func itIsToldBeforeAnythingIsCopied() throws {
        try overwrite(target, [1])
        let left = unpublishedPath(for: target)
        files.watch(.write) { call in #expect(call.path != left) }
        #expect(try LogError.code { try copy() } == .notACopy)
    }
}
