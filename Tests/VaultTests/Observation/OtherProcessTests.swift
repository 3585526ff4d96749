import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import PlainStores
@testable import Vault

/// Each part is a process of its own: the parts share only the file, and only the test's own work takes memory.
@Suite("Observers of another process's changes", .timeLimit(.minutes(10)))
struct OtherProcessTests {
    static let changes = 10_000

    @Test(arguments: [false, true])
    func endAtTheLastOfTenThousandChangesAndTakeNoMemory(_ isVault: Bool) async throws {
        let folder = try TemporaryFolder()
        // Created here, so that both have the same key.
        _ = try ObservedFile(folder: folder.path, isVault: isVault).open()
        async let writing: Void = write(in: folder.path, isVault)
        await observe(in: folder.path, isVault)
        await writing
    }

    private func write(in folder: String, _ isVault: Bool) async {
        await #expect(processExitsWith: .success) { [folder = folder as String, isVault = isVault as Bool] in
            ThisProcess.end(after: 240)
            let store = try ObservedFile(folder: folder, isVault: isVault).open()
            for try await isReady in Storable("ready", in: .store(store)).defaulting(to: false).values {
                if isReady { break }
            }
            let counter = Storable<Int>("n", in: .store(store))
            for number in 1...OtherProcessTests.changes { try await counter.write(number) }
        }
    }

    private func observe(in folder: String, _ isVault: Bool) async {
        await #expect(processExitsWith: .success) { [folder = folder as String, isVault = isVault as Bool] in
            ThisProcess.end(after: 240)
            let store = try ObservedFile(folder: folder, isVault: isVault).open()
            let crowd = Crowd(Storable("n", in: .store(store)).defaulting(to: 0), last: OtherProcessTests.changes)
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 { group.addTask { try await crowd.follow() } }
                try await ThisProcess.wait { crowd.size == 100 }
                try await Storable<Bool>("ready", in: .store(store)).write(true)
                try await group.waitForAll()
            }
            let grown = try ThisProcess.residentMemory() - crowd.memory
            // The address sanitizer keeps freed memory for a while, so the measurement would mean nothing.
            if !Sanitizer.isAddress { #expect(grown < 1 << 20) }
            #expect(store.changes.observerCount == 0)
        }
    }

    @Test(arguments: [false, true])
    func leaveNothingBehindWhenAThousandAreCancelled(_ isVault: Bool) async {
        await #expect(processExitsWith: .success) { [isVault = isVault as Bool] in
            ThisProcess.end(after: 240)
            let folder = try TemporaryFolder()
            let store = try ObservedFile(folder: folder.path, isVault: isVault).open()
            let key = Storable("n", in: .store(store)).defaulting(to: 0)
            func round() async throws {
                let tasks = (0..<1_000).map { _ in
                    Task {
                        for try await _ in key.values {}
                    }
                }
                try await ThisProcess.wait { store.changes.observerCount == 1_000 }
                try await key.update { $0 += 1 }
                for task in tasks { task.cancel() }
                for task in tasks { try await task.value }
                #expect(store.changes.observerCount == 0)
            }
            // The first round opens what tasks and pauses need.
            try await round()
            try await ThisProcess.wait { try ThisProcess.threads(named: FileWatch.threadName) == 0 }
            let descriptors = try ThisProcess.descriptors(where: ThisProcess.isLasting)
            let rounds = 10
            for _ in 0..<rounds { try await round() }
            try await ThisProcess.wait { try ThisProcess.threads(named: FileWatch.threadName) == 0 }
            #expect(try ThisProcess.descriptors(where: ThisProcess.isLasting) < descriptors + rounds)
        }
    }
}

/// A store in a file, for a test's processes.
struct ObservedFile {
    let folder: String
    let isVault: Bool

    func open() throws -> any ValueStore {
        guard isVault else { return Preferences(path: folder + "/test.plist") }
        return try Keychain(
            at: VaultLocation(
                vault: folder + "/test.vault", keyFile: folder + "/test.key", rollbackMemory: folder + "/state"),
            creatingIfAbsent: true)
    }
}

/// Observers of a counter that another process counts up.
private final class Crowd: Sendable {
    private struct State {
        var size = 0
        var memory: Int?
    }

    private let counter: DefaultedKey<Storable<Int>>
    private let last: Int
    private let state = Mutex(State())

    init(_ counter: DefaultedKey<Storable<Int>>, last: Int) {
        self.counter = counter
        self.last = last
    }

    /// How many have started.
    var size: Int { state.withLock { $0.size } }
    /// The process's memory after a third of the work, when caches are full.
    var memory: Int { state.withLock { $0.memory ?? 0 } }

    func follow() async throws {
        var latest = -1
        for try await number in counter.values {
            if latest < 0 { state.withLock { $0.size += 1 } }
            #expect(number > latest)
            latest = number
            if number > last / 3 { try measure() }
            if number == last { break }
        }
        #expect(latest == last)
    }

    private func measure() throws {
        guard memory == 0 else { return }
        let present = try ThisProcess.residentMemory()
        state.withLock { $0.memory = $0.memory ?? present }
    }
}
