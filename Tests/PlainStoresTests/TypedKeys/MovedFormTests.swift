import Foundation
import PlainStores
import Testing

/// As a version of the program with one more field stored it.
private struct Newer: StoredAsCodable, Equatable {
    var a: Int
    var b: Int
}

private struct Older: StoredAsCodable {
    var a: Int
}

@Suite("The form of values that move")
struct MovedFormTests {
    private let old = MemoryStore()
    private let new = MemoryStore()

    @Test func isTheOneThatWasStored() throws {
        try RAMStorable<Newer>("k", in: .store(old)).write(Newer(a: 1, b: 2))
        #expect(try RAMStorable<Older>("k", in: .store(new), movedFrom: .store(old)).read()?.a == 1)
        #expect(try RAMStorable<Newer>("k", in: .store(new)).read() == Newer(a: 1, b: 2))
        #expect(old.value(of: "k") == nil)
    }

    @Test func isNotRoundedToTheType() throws {
        _ = old.commit(StoreBatch(["f": .real(0.1)]))
        #expect(try RAMStorable<Float>("f", in: .store(new), movedFrom: .store(old)).read() == 0.1)
        #expect(new.value(of: "f") == .real(0.1))
    }

    @Test func isThatOfTheTypeIfTheStoreRefusesTheOther() throws {
        let new = FussyStore()
        _ = old.commit(StoreBatch(["k": .dictionary(["a": .integer(1), "b": .integer(2)])]))
        #expect(try RAMStorable<Older>("k", in: .store(new), movedFrom: .store(old)).read()?.a == 1)
        #expect(new.value(of: "k") == .dictionary(["a": .integer(1)]))
        #expect(old.value(of: "k") == nil)
    }

    @Test func thatTheStoreRefusesStaysInTheOldOne() throws {
        let value = StoredValue.dictionary(["a": .integer(1), "b": .integer(2)])
        _ = old.commit(StoreBatch(["k": value]))
        let key = RAMStorable<Newer>("k", in: .store(FussyStore()), movedFrom: .store(old))
        let error = #expect(throws: VaultError.self) { try key.read() }
        #expect(error?.code == .invalid)
        #expect(old.value(of: "k") == value)
    }
}

/// A store that refuses dictionaries with more than one field.
private final class FussyStore: ValueStore {
    let changes = ChangeFeed()
    let failures = FailureLog()
    private let base = MemoryStore()

    func value(of key: String) -> StoredValue? { base.value(of: key) }
    func keys(prefix: String) -> [String] { base.keys(prefix: prefix) }
    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        for case .dictionary(let fields)? in batch.changes.values where fields.count > 1 {
            throw VaultError(.invalid, "One field is enough.")
        }
        return base.commit(batch)
    }
}
