import FoundationEssentials
import TestSupport
import Testing
import VaultTesting

@testable import PlainStores
@testable import Vault

@Suite("Values of a key", .temporaryStores, .timeLimit(.minutes(10)))
struct StoredValuesTests {
    @Test(arguments: TestedHome.allCases)
    func beginWithThePresentOneAndFollowEachChange(_ home: TestedHome) async throws {
        let key: Storable<String> = try home.key("k")
        try await key.write("a")
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some("a"))
        try await key.write("b")
        #expect(try await iterator.next() == .some("b"))
        try await key.remove()
        #expect(try await iterator.next() == .some(nil))
        try await key.write("")
        #expect(try await iterator.next() == .some(""))
    }

    @Test(arguments: TestedHome.allCases)
    func skipWhatIsNoChange(_ home: TestedHome) async throws {
        let key: Storable<Int> = try home.key("k")
        let other: Storable<Int> = try home.key("other")
        try await key.write(1)
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some(1))
        // Each notice is taken before the next change, so that the changes cannot be skipped as intermediate ones.
        let notices = try home.store.changes.notices()
        async let changing: Void = {
            try await key.write(1)
            for await _ in notices.prefix(1) {}
            try await other.write(1)
            for await _ in notices.prefix(1) {}
            try await key.write(2)
        }()
        #expect(try await iterator.next() == .some(2))
        try await changing
    }

    @Test func areTheDefaultWhereThereIsNone() async throws {
        let key = Storable("k", in: .memory).defaulting(to: 7)
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some(7))
        // For an observer it is no change that the default is stored now.
        try await key.write(7)
        try await key.write(8)
        #expect(try await iterator.next() == .some(8))
        try await key.remove()
        #expect(try await iterator.next() == .some(7))
    }

    @Test func mayBeSkippedButTheLastOneComes() async throws {
        let key = Storable<Int>("k", in: .memory)
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some(nil))
        for number in 1...1_000 { try await key.write(number) }
        #expect(try await iterator.next() == .some(1_000))
    }

    @Test func goToEachIterationOnItsOwn() async throws {
        let key = Storable<Int>("k", in: .memory)
        let values = key.values
        var first = values.makeAsyncIterator()
        var second = values.makeAsyncIterator()
        #expect(try await first.next() == .some(nil))
        try await key.write(1)
        #expect(try await first.next() == .some(1))
        #expect(try await second.next() == .some(1))
        try await key.write(2)
        #expect(try await second.next() == .some(2))
        #expect(try await first.next() == .some(2))
    }

    @Test func comeFromTheStoreInWhichIterationStarted() async throws {
        let key: RAMStorable<String> = "k"
        try await key.write("a")
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some("a"))
        let store = MemoryStore.standard
        try await withTemporaryStores { _ in
            try await key.write("elsewhere")
            _ = store.commit(StoreBatch(["k": .string("b")]))
            #expect(try await iterator.next(isolation: #isolation) == .some("b"))
        }
    }

    @Test func bringAlongTheValueOfTheOldStore() async throws {
        let old: Storable<String> = "k"
        try await old.write("a")
        let key = KeychainStorable<String>("k", movedFrom: .preferences)
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some("a"))
        #expect(try await !old.exists())
        try await key.write("b")
        #expect(try await iterator.next() == .some("b"))
    }

    // MARK: Errors

    @Test func bringAlongWhatIsPutIntoTheOldStoreLater() async throws {
        let old = MemoryStore()
        let new = MemoryStore()
        let key = RAMStorable<String>("k", in: .store(new), movedFrom: .store(old))
        var values = key.values.makeAsyncIterator()
        #expect(try await values.next() == .some(nil))
        // By a program of the older version.
        _ = old.commit(StoreBatch(["k": .string("late")]))
        #expect(try await values.next() == "late")
        #expect(new.value(of: "k") == .string("late") && old.value(of: "k") == nil)
        _ = values
        #expect(old.changes.observerCount == 1 && new.changes.observerCount == 1)
    }

    @Test func comeFromTheNewStoreWhileTheOldOneCannotBeOpened() async throws {
        let new = MemoryStore(failures: FailureLog { _, _ in })
        let locked = StoreReference { () throws(VaultError) in throw VaultError(.locked, "No key.") }
        let key = RAMStorable<String>("k", in: .store(new), movedFrom: locked)
        #expect(try await code { for try await _ in key.values {} } == .locked)
        try await key.write("new")
        var values = key.values.makeAsyncIterator()
        #expect(try await values.next() == "new")
    }

    @Test func endWithAnErrorForAValueOfAnotherType() async throws {
        let key = Storable<Int>("k", in: .memory)
        try await key.write(1)
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some(1))
        try await Storable<String>("k", in: .memory).write("text")
        #expect(try await code { try await iterator.next() } == .wrongType)
        #expect(try await iterator.next() == nil)
        #expect(MemoryStore.standard.changes.observerCount == 0)
    }

    @Test func endWithAnErrorForADamagedVault() async throws {
        let keychain = try Keychain.standard
        let key = Storable<String>("k", in: .keychain)
        try await key.write("a")
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some("a"))
        // Not through this library, as a broken disk or another program would.
        var bytes = try contents(keychain.location.vault)
        for index in bytes.indices.dropFirst(64) { bytes[index] ^= 0x55 }
        try replace(keychain.location.vault, with: bytes)
        #expect(try await code { try await iterator.next() } == .damaged)
        #expect(try await iterator.next() == nil)
    }

    @Test func endWithAnErrorForADamagedPropertyList() async throws {
        let preferences = Preferences.standard
        let key = Storable<String>("k", in: .preferences)
        try await key.write("a")
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some("a"))
        try replace(preferences.path, with: "<plist>".utf8)
        #expect(try await code { try await iterator.next() } == .damaged)
    }

    @Test func beginWithAnErrorForALockedVault() async throws {
        let locked = StoreReference { () throws(VaultError) in throw VaultError(.locked, "No key.") }
        var iterator = Storable<String>("k", in: locked).values.makeAsyncIterator()
        #expect(try await code { try await iterator.next() } == .locked)
        #expect(try await iterator.next() == nil)
    }

    @Test func noticeAtOnceThatAnotherFileReplacedTheVault() async throws {
        let keychain = try Keychain.standard
        let key = Storable<Int>("k", in: .keychain)
        try await key.write(1)
        let older = try contents(keychain.location.vault)
        try await key.write(2)
        var iterator = key.values.makeAsyncIterator()
        #expect(try await iterator.next() == .some(2))
        // The path was checked just before, and is usually not checked again so soon.
        try replace(keychain.location.vault, with: older)
        #expect(try await code { try await iterator.next() } == .rolledBack)
    }

    // MARK: The end

    @Test func endWithoutAnErrorWhenTheTaskIsCancelled() async throws {
        let key = Storable<Int>("k", in: .memory)
        let changes = MemoryStore.standard.changes
        let task = Task {
            var count = 0
            for try await _ in key.values { count += 1 }
            return count
        }
        while changes.observerCount == 0 { await Task.yield() }
        task.cancel()
        #expect(try await task.value <= 1)
        #expect(changes.observerCount == 0)
        let cancelled = Task {
            while !Task.isCancelled { await Task.yield() }
            var iterator = key.values.makeAsyncIterator()
            return try await iterator.next() == nil
        }
        cancelled.cancel()
        #expect(try await cancelled.value)
    }

    @Test func areObservedNoLongerOnceTheIteratorIsGone() async throws {
        let key = Storable<Int>("k", in: .memory)
        let changes = MemoryStore.standard.changes
        for try await _ in key.values {
            #expect(changes.observerCount == 1)
            break
        }
        #expect(changes.observerCount == 0)
    }

    /// The code of the error that `body` throws; nil if it throws none.
    private func code<Result>(_ body: () async throws -> Result) async throws -> VaultError.Code? {
        do { _ = try await body() } catch let error as VaultError { return error.code }
        return nil
    }
}
