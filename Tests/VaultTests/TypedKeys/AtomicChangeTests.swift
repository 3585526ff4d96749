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
        let first = Storable<Int>("a", in: home.reference)
        let second = Storable<String>("b", in: home.reference)
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
        let first = Storable<Int>("a", in: home.reference)
        let second = Storable<Int>("b", in: home.reference)
        var runs = 0
        let pair = try home.store.atomically { transaction in
            runs += 1
            let one = try transaction.read(first)
            if runs == 1 {
                _ = try home.store.commit(StoreBatch(["a": .integer(1), "b": .integer(1)]))
            }
            return [one, try transaction.read(second)]
        }
        #expect(pair == [1, 1] && runs == 2)
    }

    @Test(arguments: TestedHome.allCases) func noneIsMadeIfTheBodyThrows(_ home: TestedHome) throws {
        let first = Storable<Int>("a", in: home.reference)
        let second = Storable<Int>("b", in: home.reference)
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
        let good = Storable<Int>("a", in: home.reference)
        #expect(throws: VaultError.self) {
            try home.store.atomically { transaction in
                try transaction.write(1, to: good)
                try transaction.write(deep, to: Storable<StoredValue>("b", in: home.reference))
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
                let keys = ["a", "b"].map { Storable<Int>($0, in: .store(store)) }
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
        let read = Storable<Int>("r", in: home.reference)
        let written = Storable<Int>("w", in: home.reference)
        var runs = 0
        try home.store.atomically { transaction in
            let value = try transaction.read(read) ?? 0
            runs += 1
            if runs < 4 { _ = try home.store.commit(StoreBatch(["r": .integer(Int128(runs))])) }
            try transaction.write(value, to: written)
        }
        #expect(runs == 4)
        #expect(try written.read() == 3)
    }

    @Test(arguments: TestedHome.allCases) func theErrorThatTheBodyDeclaresIsKept(_ home: TestedHome) throws {
        let key = Storable<Int>("n", in: home.reference)
        let store = try home.store
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
        let other = Storable<Int>("o", in: home.reference)
        let written = Storable<Int>("w", in: home.reference)
        var runs = 0
        try home.store.atomically { transaction in
            runs += 1
            try other.write(runs)
            try transaction.write(runs, to: written)
        }
        #expect(runs == 1)
    }

    /// It could never end: each inner change makes the outer update run again.
    @Test(arguments: TestedHome.allCases) func aChangeOfWhatAnUpdateAroundItHasReadIsRefusedAtOnce(
        _ home: TestedHome
    ) throws {
        let key = Storable("n", in: home.reference).defaulting(to: 0)
        let other = Storable("o", in: home.reference).defaulting(to: 0)
        let changes: [() throws -> Void] = [
            { try key.update { $0 += 1 } }, { try key.write(1) }, { try key.remove() },
            { try other.update { value throws(any Error) in try key.write(value) } },
        ]
        for change in changes {
            var runs = 0
            let code = try VaultError.code {
                try key.update { value throws(any Error) in
                    runs += 1
                    value += 1
                    try change()
                }
            }
            #expect(code == .invalid && runs == 1)
        }
        #expect(try home.store.keys(prefix: "") == [])
        if home == .keychain {
            let secret = KeychainStorable<Int>("n")
            let error = #expect(throws: VaultError.self) {
                try secret.update { _ throws(any Error) in try secret.write(1, expires: .distantFuture) }
            }
            #expect(error?.code == .invalid)
        }
        #expect(try home.store.keys(prefix: "") == [])
        try key.update { (value) throws(VaultError) in
            value = try other.update {
                $0 += 1
                return $0
            }
        }
        #expect(try key.read() == 1 && other.read() == 1)
    }

    @Test(arguments: TestedHome.allCases) func aKeyOfAnotherStoreIsRefused(_ home: TestedHome) throws {
        for other in TestedHome.allCases where other != home {
            let key = Storable<String>("u.token", in: other.reference)
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
        let counter = Storable("counter", in: .store(store)).defaulting(to: 0)
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
