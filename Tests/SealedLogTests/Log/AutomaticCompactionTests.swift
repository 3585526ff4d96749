import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

@Suite("Compaction that comes by itself")
struct AutomaticCompactionTests {
    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open()
    }

    @Test func comesOnceDeadBytesPassTheirShare() throws {
        let value = RandomBytes.array(50_000)
        try log.set("keep", value)
        var sets = 0
        while try fixture.header.sequence == 1, sets < 20 {
            try log.set("a", value)
            sets += 1
        }
        // The floor is 256 KiB: five dead values are less, six more.
        #expect(sets == 7)
        #expect(try log.state() == ["a": value, "keep": value])
        #expect(try fixture.bytes.count < 192 << 10)
        try log.expectTotalsToBeRight()
    }

    @Test func doesNotComeWhileLiveBytesAreMany() throws {
        let value = RandomBytes.array(50_000)
        for number in 0..<20 { try log.set("keep \(number)", value) }
        for _ in 0..<9 { try log.set("a", value) }
        #expect(try fixture.header.sequence == 1)
        for _ in 0..<6 { try log.set("a", value) }
        #expect(try fixture.header.sequence > 1)
    }

    @Test func comesOnceTheMinorCheckpointIsLarge() throws {
        try log.make((0..<4_097).map { ("name \($0)", []) })
        #expect(try fixture.header.root != nil)
        #expect(log.view.withLock { $0.minor } == nil)
        try log.make((0..<400).map { ("more \($0)", []) })
        #expect(log.view.withLock { $0.minor } != nil)
        #expect(try fixture.open().verify().entries == 4_497)
        try log.expectTotalsToBeRight()
    }

    @Test func thatFailsOnTheWayOfASetIsNotTriedAgainAtOnce() throws {
        let files = FaultyFileSystem()
        let other = try fixture.open(in: files)
        files.fail([.rename], times: 1_000, with: .error(EIO))
        for _ in 0..<30 { try other.set("a", RandomBytes.array(50_000)) }
        #expect(files.calls.filter { $0.kind == .rename }.count == 1)
        #expect(try fixture.open().verify().entries == 1)
    }

    @Test func thatFailsIsToldByEachProcessUntilItSucceeds() throws {
        let files = FaultyFileSystem()
        let first = try fixture.open(in: files, remembering: true)
        files.fail([.rename], times: 1_000, with: .error(EIO))
        for _ in 0..<8 { try first.set("a", RandomBytes.array(50_000)) }
        func isTold(by log: SealedLog) -> Bool {
            log.takeNotices().contains { if case .compactionFailed = $0 { true } else { false } }
        }
        #expect(isTold(by: first))
        let second = try fixture.open(in: files, remembering: true)
        try second.set("a", "new")
        #expect(isTold(by: second))
        #expect(files.calls.filter { $0.kind == .rename }.count == 1)
    }

    /// A disk that is full, or that fails, from the moment on when the thread has begun to write its file.
    @Test(arguments: [(FileCall.write, ENOSPC), (.synchronizeData, EIO), (.synchronize, EIO), (.setMode, EPERM)])
    func thatMeetsAFullOrFailingDiskLosesNothingAndCanBeDoneLater(_ kind: FileCall, _ number: Int32) throws {
        let files = FaultyFileSystem()
        defer { files.heal() }
        let other = try fixture.open(in: files, remembering: true)
        // Not what a new file gets by itself.
        try setMode(fixture.path, 0o640)
        let value = RandomBytes.array(50_000)
        try other.set("keep", value)
        let left = unpublishedPath(for: fixture.path)
        files.watch(kind) { [files] call in
            if call.path == left { files.fail([kind], times: 1_000, with: .error(number)) }
        }
        var sets = 0
        while files.failures == 0, sets < 20 {
            try other.set("a", value)
            sets += 1
        }
        #expect(files.failures > 0)
        files.heal()
        #expect(try fixture.header.sequence == 1)
        #expect(!FileManager.default.fileExists(atPath: left))
        let notices = other.takeNotices().filter { if case .compactionFailed = $0 { true } else { false } }
        #expect(notices.count == 1)
        for reader in [other, try fixture.open(remembering: true)] {
            #expect(try reader.state() == ["a": value, "keep": value])
            #expect(try reader.verify().entries == 2)
        }
        try other.set("a", "new")
        try other.compact()
        #expect(try fixture.header.sequence > 1)
        #expect(try fixture.open(remembering: true).state() == ["a": Array("new".utf8), "keep": value])
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    /// The next change starts it then. As an ordinary user, since root has as many threads as it likes.
    @Test func forWhichThereIsNoThreadHoldsNothingUp() async {
        await #expect(processExitsWith: .success) {
            let upkeep = Upkeep(isAutomatic: true)
            let hasRun = Flag()
            if geteuid() == 0 { try #require(setuid(65_534) == 0) }
            let threads = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)
            var limit = rlimit()
            try #require(getrlimit(threads, &limit) == 0)
            let former = limit.rlim_cur
            limit.rlim_cur = 0
            try #require(setrlimit(threads, &limit) == 0)
            upkeep.start { hasRun.set() }
            upkeep.wait()
            let hasRunWithout = hasRun.isSet
            limit.rlim_cur = former
            try #require(setrlimit(threads, &limit) == 0)
            #expect(!hasRunWithout)
            upkeep.start { hasRun.set() }
            upkeep.wait()
            #expect(hasRun.isSet)
        }
    }

    @Test(arguments: 0..<6) func totalsAreWhatARecountGives(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        for _ in 0..<150 {
            let wishes: [Wish] = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                let name = "name \(Int.random(in: 0..<15, using: &generator))"
                let isSet = Int.random(in: 0..<4, using: &generator) > 0
                return (name, isSet ? generator.bytes(Int.random(in: 0...700, using: &generator)) : nil)
            }
            try log.make(wishes)
            if Int.random(in: 0..<60, using: &generator) == 0 { try log.compact() }
            try log.expectTotalsToBeRight()
        }
    }
}
