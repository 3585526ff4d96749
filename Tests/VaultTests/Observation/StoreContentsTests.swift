import TestSupport
import Testing
import VaultTesting

@testable import PlainStores
@testable import Vault

@Suite("Values below a prefix", .temporaryStores, .timeLimit(.minutes(10)))
struct StoreContentsTests {
    @Test(arguments: TestedHome.allCases)
    func areTheWholeStatesOfThosePresent(_ home: TestedHome) async throws {
        let store = try home.store
        _ = try store.commit(StoreBatch(["a.1": .integer(1), "b": .integer(0)]))
        var iterator = store.values(prefix: "a.").makeAsyncIterator()
        #expect(try await iterator.next() == ["a.1": .integer(1)])
        _ = try store.commit(StoreBatch(["a.1": .integer(2), "a.2": .string("x"), "b": .integer(1)]))
        #expect(try await iterator.next() == ["a.1": .integer(2), "a.2": .string("x")])
        _ = try store.commit(StoreBatch(["b": .integer(2)]))
        _ = try store.commit(StoreBatch(["a.1": nil]))
        #expect(try await iterator.next() == ["a.2": .string("x")])
        _ = try store.commit(StoreBatch(["a.2": nil]))
        #expect(try await iterator.next() == [:])
    }

    @Test(arguments: TestedHome.allCases)
    func areThoseOfTheScope(_ home: TestedHome) async throws {
        let store = try home.store
        let mine = store.scoped(to: "me")
        let other = store.scoped(to: "you")
        _ = try other.commit(StoreBatch(["k": .integer(0)]))
        var iterator = mine.values().makeAsyncIterator()
        #expect(try await iterator.next() == [:])
        _ = try other.commit(StoreBatch(["k": .integer(1)]))
        _ = try mine.commit(StoreBatch(["k": .integer(2)]))
        #expect(try await iterator.next() == ["k": .integer(2)])
    }

    @Test func ofAStoreWithoutAMethodOfItsOwnAreReadUntilTheyStandStill() throws {
        let store = RestlessStore(changes: 3)
        #expect(try store.contents(prefix: "") == ["a": .integer(3), "b": .integer(3)])
    }
}

/// Changes its two keys to the same number between any two reads of them, a limited number of times.
private final class RestlessStore: ValueStore {
    let changes = ChangeFeed()
    let failures = FailureLog()
    private let base = MemoryStore()
    private let last: Int128

    init(changes last: Int128) {
        self.last = last
        set(0)
    }

    private func set(_ number: Int128) {
        _ = base.commit(StoreBatch(["a": .integer(number), "b": .integer(number)]))
    }

    func value(of key: String) -> StoredValue? {
        defer { if case .integer(let number) = base.value(of: "a"), number < last { set(number + 1) } }
        return base.value(of: key)
    }

    func keys(prefix: String) -> [String] { base.keys(prefix: prefix) }

    func commit(_ batch: StoreBatch) -> Bool { base.commit(batch) }
}
