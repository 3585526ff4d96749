import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// In a process of its own: a child of this one would have the locks of all the other tests.
@Suite("After a fork")
struct ForkTests {
    @Test func parentAndChildLoseNothingOfEachOther() async {
        await #expect(processExitsWith: .success) {
            let fixture = try LogFixture()
            let log = try fixture.open(remembering: true)
            try log.set("before", "x")
            let isDone = try inForkedChild {
                for number in 0..<150 { try log.set("child \(number)", "\(number)") }
                return try log.text("before") == "x"
            } meanwhile: {
                for number in 0..<150 { try log.set("parent \(number)", "\(number)") }
            }
            #expect(isDone)
            let state = try fixture.open().state()
            #expect(state.count == 301)
            for number in 0..<150 {
                #expect(state["child \(number)"] == Array("\(number)".utf8))
                #expect(state["parent \(number)"] == Array("\(number)".utf8))
            }
            #expect(try log.state() == state)
            #expect(try fixture.open().verify().entries == 301)
        }
    }

    @Test func aChildWaitsForTheLockThatItsParentHolds() async {
        await #expect(processExitsWith: .success) {
            let fixture = try LogFixture()
            let log = try fixture.open()
            let store = log.currentStore
            let lock = try store.locked(.exclusive, until: Deadline(after: .seconds(1)))
            let change = try log.change("child", to: [1])
            let isRefused = try inForkedChild {
                try LogError.code { try log.commit([change], timeout: .milliseconds(50)) } == .busy
            } meanwhile: {
            }
            #expect(isRefused)
            // The child is gone, and the parent's lock is still its own.
            #expect(try LogError.code { try fixture.open().commit([change], timeout: .milliseconds(50)) } == .busy)
            lock.release()
            #expect(try fixture.open().entries().isEmpty)
            try log.set("parent", "x")
            #expect(try fixture.open().verify().entries == 1)
        }
    }

    /// On NFS and FUSE readers take the lock.
    @Test func aChildThatReadsUnderTheLockDoesNotGiveItsParentsBack() async {
        await #expect(processExitsWith: .success) {
            let fixture = try LogFixture()
            var options = fixture.options()
            options.lockTimeout = .milliseconds(50)
            let files = FaultyFileSystem(volume: Volume(isRemote: true))
            let log = try openApart(fixture.path, options: options, in: files, readKey: fixture.key)
            try log.set("a", "1")
            let lock = try log.currentStore.locked(.exclusive, until: Deadline(after: .seconds(1)))
            let change = try log.change("other", to: [1])
            // Whatever comes of it while the parent holds the lock.
            _ = try inForkedChild {
                _ = try log.text("a")
                return true
            } meanwhile: {
            }
            #expect(try LogError.code { try fixture.open().commit([change], timeout: .milliseconds(50)) } == .busy)
            lock.release()
            let isRead = try inForkedChild {
                try log.text("a") == "1"
            } meanwhile: {
            }
            #expect(isRead)
        }
    }

    @Test func aChildReadsWhatItsParentWrites() async {
        await #expect(processExitsWith: .success) {
            let fixture = try LogFixture()
            let log = try fixture.open()
            try log.set("a", "1")
            let isRead = try inForkedChild {
                guard try ["1", "2"].contains(log.text("a")) else { return false }
                while try log.text("a") != "2" {}
                return true
            } meanwhile: {
                try log.compact()
                try log.set("a", "2")
            }
            #expect(isRead)
        }
    }

    /// It has none of its parent's threads.
    @Test func aChildDoesNotWaitForWhatItsParentsThreadDoesAndIsLeftToDoItItself() async {
        await #expect(processExitsWith: .success) {
            let upkeep = Upkeep(isAutomatic: true)
            let hasBegun = SystemSemaphore()
            let mayEnd = SystemSemaphore()
            upkeep.start {
                hasBegun.signal()
                mayEnd.wait()
            }
            hasBegun.wait()
            let isLeft = try inForkedChild {
                upkeep.wait()
                let hasRun = Flag()
                upkeep.start { hasRun.set() }
                upkeep.wait()
                return upkeep.takeLeft() && !upkeep.takeLeft() && !hasRun.isSet
            } meanwhile: {
            }
            #expect(isLeft && !upkeep.takeLeft())
            mayEnd.signal()
            upkeep.wait()
        }
    }
}

extension SealedLog {
    fileprivate var currentStore: any RecordStore { view.withLock { $0.store } }
}
