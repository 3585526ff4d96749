import TestSupport
import Testing
import VaultTesting

@testable import PlainStores
@testable import Vault

@Suite("Concurrency of observation", .temporaryStores, .timeLimit(.minutes(10)))
struct ObservationConcurrencyTests {
    @Test(arguments: TestedHome.allCases)
    func everyObserverSeesTheCounterGrowToItsEnd(_ home: TestedHome) async throws {
        let store = try home.store
        let key = Storable("n", in: .store(store)).defaulting(to: 0)
        let last = home == .memory ? 4_000 : 400
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    var latest = -1
                    for try await number in key.values {
                        #expect(number > latest)
                        latest = number
                        if latest == last { break }
                    }
                    #expect(latest == last)
                }
            }
            group.addTask {
                for try await values in store.values(prefix: "n") where values["n"] == .integer(Int128(last)) { break }
            }
            group.addTask {
                try onThreads(4) { _ in
                    for _ in 0..<last / 4 { try key.update { $0 += 1 } }
                }
            }
            try await group.waitForAll()
        }
        #expect(store.changes.observerCount == 0)
    }

    @Test(arguments: TestedHome.allCases)
    func contentsHoldAllOrNoneOfATransaction(_ home: TestedHome) throws {
        let store = try home.store
        // Read one by one, the first and the last are far apart.
        let names = (10..<30).map { "a.\($0)" }
        @Sendable func set(_ number: Int128) throws {
            try store.atomically { transaction in
                for name in names { transaction.set(name, to: .integer(number)) }
            }
        }
        try set(0)
        let isDone = Flag()
        try onThreads(3) { number in
            guard number == 0 else {
                while !isDone.isSet {
                    let contents = try store.contents(prefix: "a.")
                    #expect(contents.count == names.count)
                    #expect(Set(contents.values).count == 1)
                }
                return
            }
            defer { isDone.set() }
            for number in 1...200 { try set(Int128(number)) }
        }
    }

    @Test(arguments: TestedHome.allCases)
    func observersComeAndGoWhileTheStoreChanges(_ home: TestedHome) async throws {
        let store = try home.store
        let key = Storable("n", in: .store(store)).defaulting(to: 0)
        let isDone = Flag()
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    while !isDone.isSet {
                        let observer = Task { for try await _ in key.values.prefix(number) {} }
                        await Task.yield()
                        if number.isMultiple(of: 2) { observer.cancel() }
                        try await observer.value
                    }
                }
            }
            group.addTask {
                defer { isDone.set() }
                try onThreads(2) { _ in
                    for _ in 0..<200 { try key.update { $0 += 1 } }
                }
            }
            // Observers that wait for another change get it.
            while !isDone.isSet { try await Task.sleep(for: .milliseconds(1)) }
            for _ in 0..<20 {
                try await key.update { $0 += 1 }
                try await Task.sleep(for: .milliseconds(1))
            }
            group.cancelAll()
        }
        try await ThisProcess.wait { store.changes.observerCount == 0 }
    }

    @Test func observedValuesComeAndGoWhileTheStoreChanges() async throws {
        let store = MemoryStore.standard
        let key = Storable("n", in: .store(store)).defaulting(to: 0)
        try onThreads(4) { number in
            for _ in 0..<500 {
                let observed = Observed(key, on: MainActor.shared)
                let former = observed.value
                try key.update { $0 += 1 }
                #expect(observed.value >= former)
            }
        }
        #expect(try await key.read() == 2_000)
        try await ThisProcess.wait { store.changes.observerCount == 0 }
    }
}
