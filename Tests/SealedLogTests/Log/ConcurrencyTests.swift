import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// The thread sanitizer runs the suites that have "Concurren" in their names.
@Suite("Concurrency", .serialized)
struct ConcurrencyTests {
    private let fixture: LogFixture

    init() throws {
        fixture = try LogFixture()
    }

    @Test func everySetOfEightThreadsOnOneHandleIsKept() throws {
        let log = try fixture.open()
        try everySetIsKept { _ in log }
    }

    @Test func everySetOfEightThreadsOnTwoHandlesIsKept() throws {
        let logs = [try fixture.open(), try fixture.open()]
        try everySetIsKept { logs[$0 % 2] }
    }

    private func everySetIsKept(_ log: @escaping @Sendable (Int) -> SealedLog) throws {
        try onThreads(8) { thread in
            for number in 0..<200 {
                try log(thread).set("\(thread)/\(number)", "value \(thread) \(number)")
            }
        }
        let state = try fixture.open().state()
        #expect(state.count == 1_600)
        for thread in 0..<8 {
            for number in 0..<200 {
                #expect(state["\(thread)/\(number)"] == Array("value \(thread) \(number)".utf8))
            }
        }
        for thread in 0..<8 { #expect(try log(thread).state() == state) }
        #expect(try fixture.open().verify().entries == 1_600)
    }

    @Test func threadsThatWaitShareOneRecord() throws {
        let files = FaultyFileSystem()
        let log = try fixture.open(in: files)
        files.forgetCalls()
        // The first thread waits for this lock, and all the others for it.
        let store = try FileRecordStore.open(fixture.path, in: PosixFileSystem())
        let lock = try store.locked(.exclusive, until: Deadline(after: .seconds(1)))
        let isReleased = Flag()
        try onThreads(9) { thread in
            guard thread > 0 else {
                while log.queue.count < 7 { Thread.sleep(forTimeInterval: 0.001) }
                isReleased.set()
                return store.unlock()
            }
            // If others came before it has taken its batch, they would be in it, and the queue never full.
            while thread > 1, !files.calls.contains(where: { $0.kind == .lock }) {
                Thread.sleep(forTimeInterval: 0.001)
            }
            try log.set("name \(thread)", "value")
            #expect(isReleased.isSet)
        }
        lock.release()
        let report = try log.verify()
        #expect(report.entries == 8)
        #expect(report.records <= 2)
    }

    @Test func aFailedFlushIsToldToAllWhoShareTheRecord() throws {
        let files = FaultyFileSystem()
        let log = try fixture.open(in: files)
        try log.set("name 1", "old")
        files.forgetCalls()
        let lock = try FileRecordStore.open(fixture.path, in: PosixFileSystem())
            .locked(.exclusive, until: Deadline(after: .seconds(1)))
        // The first one's flush succeeds; that of those who gather behind it fails.
        files.fail([.synchronizeData], after: 1, with: .error(EIO))
        let codes = Mutex<[LogError.Code?]>([])
        try onThreads(9) { [store = lock.store] thread in
            guard thread > 0 else {
                while log.queue.count < 7 { sched_yield() }
                return store.unlock()
            }
            while thread > 1, !files.calls.contains(where: { $0.kind == .lock }) { sched_yield() }
            let code = try LogError.code { try log.set("name \(thread)", "new") }
            if thread == 1 { #expect(code == nil) } else { codes.withLock { $0.append(code) } }
        }
        lock.release()
        #expect(codes.withLock { $0 } == Array(repeating: .unavailable, count: 7))
        for reader in [log, try fixture.open()] { #expect(try reader.state() == ["name 1": Array("new".utf8)]) }
        try log.set("name 2", "new")
        #expect(try fixture.open().verify().entries == 2)
    }

    @Test func aFailedExpectationIsItsOwnThreadsAlone() throws {
        let log = try fixture.open()
        try log.set("taken", "x")
        try onThreads(8) { thread in
            for number in 0..<40 {
                if thread.isMultiple(of: 2) {
                    #expect(try LogError.code { try log.set("taken", [1], .absent) } == .exists)
                } else {
                    try log.set("\(thread)/\(number)", [1], .absent)
                }
            }
        }
        #expect(try log.entries().count == 161)
        #expect(try log.text("taken") == "x")
    }

    @Test func aCounterUnderContentionCountsEveryStep() throws {
        let logs = [try fixture.open(), try fixture.open()]
        try logs[0].set("counter", [0, 0])
        try onThreads(6) { thread in
            let log = logs[thread % 2]
            for _ in 0..<30 {
                while true {
                    guard let counter = try log.openTagged("counter") else { throw LogError(.missing) }
                    let bytes = counter.bytes.unsafeArray()
                    let nonce = counter.nonce
                    let next = Int(bytes[0]) << 8 + Int(bytes[1]) + 1
                    let code = try LogError.code {
                        try log.set(
                            "counter", [UInt8(next >> 8), UInt8(next & 255)], .unchanged(nonce))
                    }
                    if code == nil { break }
                    try #require(code == .conflict)
                }
            }
        }
        #expect(try fixture.open().get("counter") == [0, 180])
    }
}
