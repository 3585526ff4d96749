import LinuxSystem
import TestSupport
import Testing
import VaultTesting

@testable import PlainStores

@Suite("Values and failures of a key", .temporaryStores, .timeLimit(.minutes(10)))
struct ResultsTests {
    @Test func goOnAfterAFailure() async throws {
        let key = Storable<Int>("k", in: .memory)
        try await key.write(1)
        var results = key.results.makeAsyncIterator()
        #expect(await results.next(isolation: #isolation) == .success(1))
        try await Storable<String>("k", in: .memory).write("text")
        let failure = await results.next(isolation: #isolation)
        #expect(failure.flatMap { try? $0.get() } == .none && failure != nil)
        try await key.write(2)
        #expect(await results.next(isolation: #isolation) == .success(2))
    }

    /// Nothing tells that a key file is back.
    @Test func beginWhileTheStoreCannotBeFound() async throws {
        let store = MemoryStore()
        let isLocked = Mutex(true)
        let home = StoreReference { () throws(VaultError) in
            guard isLocked.withLock({ $0 }) else { return store }
            throw VaultError(.locked, "No key.")
        }
        let key = Storable("k", in: home).defaulting(to: 7)
        var results = key.results.makeAsyncIterator()
        #expect(await results.next(isolation: #isolation) == .failure(VaultError(.locked, "No key.")))
        isLocked.withLock { $0 = false }
        #expect(await results.next(isolation: #isolation) == .success(7))
        var contents = store.results().makeAsyncIterator()
        #expect(await contents.next(isolation: #isolation) == .success([:]))
    }

    @Test func endWhenTheTaskIsCancelled() async throws {
        let locked = StoreReference { () throws(VaultError) in throw VaultError(.locked, "No key.") }
        let task = Task {
            var count = 0
            for await _ in Storable<Int>("k", in: locked).results { count += 1 }
            return count
        }
        try await Task.sleep(for: .milliseconds(20))
        task.cancel()
        #expect(await task.value <= 1)
    }

    @MainActor @Test func ofAnObservedValueWhoseStoreIsFoundLater() async throws {
        let store = MemoryStore()
        let isLocked = Mutex(true)
        let home = StoreReference { () throws(VaultError) in
            guard isLocked.withLock({ $0 }) else { return store }
            throw VaultError(.locked, "No key.")
        }
        let observed = Observed(Storable("k", in: home).defaulting(to: 7))
        #expect(observed.error?.code == .locked && observed.value == 7)
        isLocked.withLock { $0 = false }
        _ = store.commit(StoreBatch(["k": .integer(8)]))
        while observed.value != 8 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(observed.error == nil)
    }
}
