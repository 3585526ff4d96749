import Foundation
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@Suite("Threads for what blocks", .timeLimit(.minutes(10)))
struct BlockingThreadsTests {
    @TaskLocal private static var local = 0

    @Test func leaveTheTasksOfTheProcessAlone() async {
        // More than there are threads, and than there are cores.
        let gate = Gate()
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                group.addTask {
                    await onBlockingThread {
                        while gate.isClosed.load(ordering: .relaxed) { Clock.sleep(microseconds: 1_000) }
                        return number
                    }
                }
            }
            // Each of these needs one of the threads that tasks share.
            for _ in 0..<100 { await Task.detached {}.value }
            gate.isClosed.store(false, ordering: .relaxed)
            #expect(await group.reduce(0, +) == 190)
        }
    }

    @Test func keepTheTasksOwnValuesAndItsErrors() async {
        let local = await BlockingThreadsTests.$local.withValue(7) {
            await onBlockingThread { BlockingThreadsTests.local }
        }
        #expect(local == 7)
        await #expect(throws: CancellationError.self) {
            try await onBlockingThread { () throws(CancellationError) in throw CancellationError() }
        }
    }

    @MainActor @Test func haveANameAndReturnToTheCallersActor() async {
        #expect(await onBlockingThread { threadName() } == "vault blocking\n")
        MainActor.preconditionIsolated()
    }

    @Test func endWhenTheyAreNotNeededAndStartAgain() async throws {
        await onBlockingThread {}
        try await Task.sleep(for: .seconds(2))
        #expect(await onBlockingThread { true })
    }
}

private final class Gate: Sendable {
    let isClosed = Atomic(true)
}

private func threadName() -> String { (try? kernelText("/proc/thread-self/comm")) ?? "" }
