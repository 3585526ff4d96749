import Foundation
import Sealing
import Synchronization
import TestSupport
import Testing
import Vault
import VaultTesting

@Suite("Atomic changes to several keys", .temporaryStores)
struct AtomicChangeTests {
    @Test(arguments: TestedHome.allCases) func allChangesAreMadeTogether(_ home: TestedHome) throws {
        let (first, second) = (StoredKey<Int>("a", in: home.reference), StoredKey<String>("b", in: home.reference))
        try second.write("old")
        let sum = try home.store.atomically { transaction in
            #expect(try transaction.read(first) == nil)
            try transaction.write(1, to: first)
            #expect(try transaction.read(first) == 1)
            try transaction.remove(second)
            #expect(try transaction.read(second) == nil)
            // No other code can see the changes yet.
            #expect(try first.read() == nil)
            #expect(try second.read() == "old")
            return 42
        }
        #expect(sum == 42)
        #expect(try first.read() == 1)
        #expect(try !second.exists())
    }

    @Test(arguments: TestedHome.allCases) func whatIsOnlyReadWasThereAtOneTime(_ home: TestedHome) throws {
        let (first, second) = (StoredKey<Int>("a", in: home.reference), StoredKey<Int>("b", in: home.reference))
        var runs = 0
        let pair = try home.store.atomically { transaction in
            runs += 1
            let one = try transaction.read(first)
            if runs == 1 {
                try first.write(1)
                try second.write(1)
            }
            return [one, try transaction.read(second)]
        }
        #expect(pair == [1, 1] && runs == 2)
    }

    @Test(arguments: TestedHome.allCases) func noneIsMadeIfTheBodyThrows(_ home: TestedHome) throws {
        let (first, second) = (StoredKey<Int>("a", in: home.reference), StoredKey<Int>("b", in: home.reference))
        try first.write(1)
        #expect(throws: CancellationError.self) {
            try home.store.atomically { transaction in
                try transaction.write(2, to: first)
                try transaction.write(2, to: second)
                throw CancellationError()
            }
        }
        #expect(try first.read() == 1)
        #expect(try !second.exists())
    }

    @Test(arguments: [TestedHome.keychain, .preferences]) func noneIsMadeIfOneCannotBeStored(_ home: TestedHome) throws
    {
        let deep = (0..<1_000).reduce(StoredValue.integer(1)) { inner, _ in .array([inner]) }
        let good = StoredKey<Int>("a", in: home.reference)
        #expect(throws: VaultError.self) {
            try home.store.atomically { transaction in
                try transaction.write(1, to: good)
                try transaction.write(deep, to: StoredKey<StoredValue>("b", in: home.reference))
            }
        }
        #expect(try home.store.keys(prefix: "") == [])
    }

    @Test(arguments: [FaultyFiles.Operation.write, .flush]) func noneIsMadeIfTheDiskFails(
        _ operation: FaultyFiles.Operation
    ) throws {
        let files = FaultyFiles()
        try withTemporaryStores(files: files) { stores in
            for store in [stores.keychain, stores.preferences] as [any ValueStore] {
                let keys = ["a", "b"].map { StoredKey<Int>($0, in: .store(store)) }
                try store.atomically { transaction in for key in keys { try transaction.write(1, to: key) } }
                files.fail(operation, with: EIO)
                #expect(throws: VaultError.self) {
                    try store.atomically { transaction in for key in keys { try transaction.write(2, to: key) } }
                }
                let values = try keys.map { try $0.read() }
                #expect(values == [1, 1])
            }
        }
        #expect(files.failures == 2)
    }

    @Test(arguments: TestedHome.allCases) func theBodyRunsAgainIfWhatItReadHasChanged(_ home: TestedHome) throws {
        let (read, written) = (StoredKey<Int>("r", in: home.reference), StoredKey<Int>("w", in: home.reference))
        var runs = 0
        try home.store.atomically { transaction in
            let value = try transaction.read(read) ?? 0
            runs += 1
            if runs < 4 { try read.write(runs) }
            try transaction.write(value, to: written)
        }
        #expect(runs == 4)
        #expect(try written.read() == 3)
    }

    @Test(arguments: TestedHome.allCases) func theErrorThatTheBodyDeclaresIsKept(_ home: TestedHome) throws {
        let (key, store) = (StoredKey<Int>("n", in: home.reference), try home.store)
        func increment() throws(VaultError) -> Int {
            try store.atomically { (transaction) throws(VaultError) in
                let next = try (transaction.read(key) ?? 0) + 1
                guard next < 3 else { throw VaultError(.invalid, "It is too large.") }
                try transaction.write(next, to: key)
                return next
            }
        }
        #expect(try increment() == 1 && increment() == 2)
        #expect(try VaultError.code { _ = try increment() } == .invalid)
        #expect(try key.read() == 2)
    }

    @Test(arguments: TestedHome.allCases) func whatItHasNotReadMayChange(_ home: TestedHome) throws {
        let (other, written) = (StoredKey<Int>("o", in: home.reference), StoredKey<Int>("w", in: home.reference))
        var runs = 0
        try home.store.atomically { transaction in
            runs += 1
            try other.write(runs)
            try transaction.write(runs, to: written)
        }
        #expect(runs == 1)
    }

    @Test(arguments: TestedHome.allCases) func aKeyOfAnotherStoreIsRefused(_ home: TestedHome) throws {
        for other in TestedHome.allCases where other != home {
            let key = StoredKey<String>("u.token", in: other.reference)
            try key.write("secret")
            let store = try home.store
            #expect(try VaultError.code { try store.atomically { try $0.write("new", to: key) } } == .invalid)
            #expect(try VaultError.code { try store.atomically { _ = try $0.read(key) } } == .invalid)
            #expect(try VaultError.code { try store.atomically { try $0.remove(key) } } == .invalid)
            #expect(try store.keys(prefix: "") == [])
            #expect(try key.read() == "secret")
            try key.remove()
        }
    }
}

@Suite("Concurrent updates")
struct UpdateConcurrencyTests {
    @Test(arguments: [TestedHome.keychain, .memory]) func eightThreadsLoseNoUpdate(_ home: TestedHome) throws {
        try withTemporaryStores { _ in
            let counter = StoredKey("counter", default: 0, in: .store(try home.store))
            try onThreads(8) { _ in
                for _ in 0..<1_000 { try counter.update { $0 += 1 } }
            }
            let count = try counter.read()
            #expect(count == 8_000)
        }
    }

    @Test func threadsMoveMoneyAndNoneIsLost() throws {
        try withTemporaryStores { stores in
            for store in [stores.keychain, stores.preferences, stores.memory.scoped(to: "a")] as [any ValueStore] {
                let accounts = (0..<4).map { StoredKey("account \($0)", default: 100, in: .store(store)) }
                try onThreads(4) { thread in
                    for number in 0..<25 {
                        let (from, to) = (accounts[thread], accounts[(thread + 1 + number % 3) % 4])
                        try store.atomically { transaction in
                            let (source, target) = (try transaction.read(from) ?? 0, try transaction.read(to) ?? 0)
                            try transaction.write(source - 1, to: from)
                            try transaction.write(target + 1, to: to)
                        }
                    }
                }
                let sum = try accounts.map { try $0.read() ?? 0 }.reduce(0, +)
                #expect(sum == 400)
            }
        }
    }
}

/// In a process of its own, so that nothing else runs during the fork.
@Suite("Updates of two processes")
struct UpdateProcessTests {
    @Test func twoProcessesLoseNoUpdateInTheKeychain() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryStores { try UpdateProcessTests.expectNoneLost(in: $0.keychain, updates: 1_000) }
        }
    }

    @Test func twoProcessesLoseNoUpdateInThePreferences() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryStores { try UpdateProcessTests.expectNoneLost(in: $0.preferences, updates: 1_000) }
        }
    }

    private static func expectNoneLost(in store: some ValueStore, updates: Int) throws {
        let counter = StoredKey("counter", default: 0, in: .store(store))
        func count() throws {
            for _ in 0..<updates { try counter.update { $0 += 1 } }
        }
        let isDone = try inForkedChild {
            try count()
            return true
        } meanwhile: {
            try count()
        }
        #expect(isDone)
        #expect(try counter.read() == 2 * updates)
    }
}
