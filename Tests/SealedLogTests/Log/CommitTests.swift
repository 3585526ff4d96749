import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Commits")
struct CommitTests {
    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open()
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4_096, 100_000, 16 << 20]) func aValueOfAnySizeIsReadBack(_ size: Int) throws {
        let value = RandomBytes.array(size)
        try log.set("a", value)
        #expect(try log.get("a") == value)
        #expect(try fixture.open().get("a") == value)
        #expect(try fixture.open().verify().entries == 1)
    }

    @Test func aValueThatIsTooLargeIsRefusedAndChangesNothing() throws {
        let before = try fixture.bytes
        let tooLarge = [UInt8](repeating: 1, count: Limits.valueSize + 1)
        #expect(try LogError.code { try log.set("a", tooLarge) } == .invalid)
        #expect(try fixture.bytes == before)
    }

    @Test func neitherNameNorValueIsInTheFile() throws {
        try log.set("a name that is long enough", "a value that is long enough")
        try log.compact()
        try log.set("another name of a secret", "another value that is kept")
        let text = String(decoding: try fixture.bytes, as: UTF8.self)
        for word in ["name", "value", "a label", "another"] { #expect(!text.contains(word)) }
    }

    @Test func anEmptyValueIsAValueAndARemovedOneIsNone() throws {
        try log.set("a", "")
        #expect(try log.get("a") == [])
        try log.remove("a")
        #expect(try log.get("a") == nil)
        #expect(try log.entry(.sample("a")) == nil)
        #expect(try log.entries().isEmpty)
        #expect(try fixture.open().get("a") == nil)
        // Nothing to do, so nothing is written.
        let before = try fixture.bytes
        try log.remove("a")
        try log.remove("b")
        #expect(try fixture.bytes == before)
    }

    @Test func namesAreListedInTheOrderOfTheirBytes() throws {
        let names = ["b", "a", "Z", "é", "a/b", "a.", "ab", "\u{e000}", "😀"]
        for name in names { try log.set(name, name) }
        let sorted = try names.map { try EntryName.sample($0) }.sorted()
        #expect(try log.entries().map(\.name) == sorted)
        #expect(try log.entries(prefix: Array("a".utf8)).map(\.name.text) == ["a", "a.", "a/b", "ab"])
        #expect(try log.entries(prefix: [0xc3]).map(\.name.text) == ["é"])
        #expect(try log.entries(prefix: Array("x".utf8)).isEmpty)
    }

    @Test func attributesAreKeptUnlessOthersAreGiven() throws {
        func attributes() throws -> [Attribute]? { try log.entry(.sample("a"))?.content?.attributes }
        let some = [Attribute(key: "account", value: "ann"), Attribute(key: "url", value: "")]
        func commit(_ attributes: [Attribute]?) throws {
            try log.commit([log.change("a", to: [1], attributes: attributes)], timeout: SealedLog.patience)
        }
        try commit(some)
        #expect(try attributes() == some)
        try commit(nil)
        #expect(try attributes() == some)
        try commit([])
        #expect(try attributes() == [])
        try commit(some)
        try log.remove("a")
        try commit(nil)
        #expect(try attributes() == [])
    }

    @Test func attributesThatTakeTooMuchRoomAreRefused() throws {
        let large = Attribute(key: "k", value: String(repeating: "x", count: 8_000))
        #expect(
            try LogError.code {
                try log.commit([log.change("a", to: [1], attributes: [large])], timeout: SealedLog.patience)
            } == .invalid)
        // The largest that is taken can be read back, by a reader that holds the format's bound.
        for length in stride(from: 7_999, to: 7_800, by: -1) {
            let attribute = Attribute(key: "k", value: String(repeating: "x", count: length))
            let change = try log.change("a", to: [1], attributes: [attribute])
            guard try LogError.code({ try log.commit([change], timeout: SealedLog.patience) }) == nil else { continue }
            #expect(try fixture.open().entry(.sample("a"))?.content?.attributes == [attribute])
            try log.compact()
            #expect(try fixture.open().verify().entries == 1)
            return
        }
        Issue.record("not even 7,800 bytes of attributes are taken")
    }

    @Test func anEntryKeepsWhenItWasCreated() throws {
        func entry() throws -> Entry? { try log.entry(.sample("a")) }
        try log.set("a", "1")
        let first = try #require(try entry())
        try log.set("a", "2")
        let second = try #require(try entry())
        #expect(second.content?.created == first.content?.created)
        #expect(second.modified >= first.modified)
    }

    @Test func aChangeCostsOneSmallAppendHoweverLargeTheVault() throws {
        let files = FaultyFileSystem()
        try log.make((0..<3_000).map { ("name \($0)", RandomBytes.array(100)) })
        let other = try fixture.open(in: files)
        try other.set("a", "first")
        files.forgetCalls()
        try other.set("a", "second")
        let writes = files.calls.filter { $0.kind == .write }
        #expect(writes.count == 1)
        #expect(writes.allSatisfy { $0.count < 512 })
        #expect(files.calls.filter { $0.kind == .synchronizeData }.count == 1)
        #expect(files.calls.filter { $0.kind == .read }.reduce(0) { $0 + $1.count } < 128 << 10)
    }

    @Test func onARemoteFileSystemEveryReadHoldsTheLock() throws {
        let files = FaultyFileSystem(volume: Volume(isRemote: true))
        let remote = try fixture.open(in: files)
        try remote.set("a", "1")
        files.forgetCalls()
        for text in ["2", "3"] {
            try log.set("a", text)
            #expect(try remote.text("a") == text)
            try log.compact()
        }
        #expect(files.calls.filter { $0.kind == .lock }.count >= 2)
        let store = try FileRecordStore.open(fixture.path, in: PosixFileSystem())
        let lock = try store.locked(.shared, until: Deadline(after: .seconds(1)))
        #expect(try remote.text("a") == "3")
        lock.release()
        #expect(try remote.verify().entries == 1)
    }

    /// A writer with the lock waits for the view. So a reader that waits for the lock must not hold the view.
    @Test func onARemoteFileSystemAReaderWaitsForTheLockWithoutTheView() throws {
        let files = FaultyFileSystem(volume: Volume(isRemote: true))
        let remote = try fixture.open(in: files, waiting: .seconds(5))
        try remote.set("a", "1")
        let lock = try FileRecordStore.open(fixture.path, in: PosixFileSystem())
            .locked(.exclusive, until: Deadline(after: .seconds(1)))
        let asks = SystemSemaphore()
        files.watch(.lock) { _ in asks.signal() }
        let isDone = SystemSemaphore()
        let text = Mutex("")
        try startDetachedThread(named: "reader") {
            text.withLock { $0 = (try? remote.text("a")) ?? "an error" }
            isDone.signal()
        }
        asks.wait()
        remote.view.withLock { _ in }
        lock.release()
        isDone.wait()
        #expect(text.withLock { $0 } == "1")
    }

    @Test func theSameFileIsOneLogInAProcess() throws {
        func open() throws -> SealedLog {
            try SealedLog.open(
                fixture.path, options: fixture.options(), in: PosixFileSystem(), readKey: fixture.key)
        }
        let one = try open()
        #expect(try open() === one)
        #expect(log !== one)
    }

    @Test func othersWaitForTheLockAndThenGiveUp() throws {
        let store = try FileRecordStore.open(fixture.path, in: PosixFileSystem())
        let lock = try store.locked(.exclusive, until: Deadline(after: .seconds(1)))
        let changes = [try log.change("a", to: [1])]
        #expect(try LogError.code { try log.commit(changes, timeout: .milliseconds(20)) } == .busy)
        #expect(try LogError.code { _ = try log.compact(timeout: .milliseconds(20)) } == .busy)
        #expect(try log.get("a") == nil)
        lock.release()
        try log.commit(changes, timeout: .milliseconds(20))
        #expect(try log.get("a") == [1])
    }

    /// Waiting for a writer that was stopped ends when it was said to.
    @Test func aReaderWaitsNoLongerThanItWasTold() throws {
        var options = fixture.options()
        options.lockTimeout = .milliseconds(100)
        let log = try openApart(fixture.path, options: options, readKey: fixture.key)
        let writer = try fixture.open()
        let store = writer.view.withLock { $0.store }
        let plan = try writer.plan([writer.change("big", to: RandomBytes.array(100_000))], at: Clock.milliseconds)
        let lock = try store.locked(.exclusive, until: Deadline(after: .seconds(1)))
        try store.write(Array(plan.bytes.prefix(5_000)), at: plan.record.offset)
        let start = ContinuousClock.now
        #expect(try LogError.code { _ = try log.text("a") } == .busy)
        #expect(ContinuousClock.now - start < .seconds(8))
        lock.release()
    }
}
