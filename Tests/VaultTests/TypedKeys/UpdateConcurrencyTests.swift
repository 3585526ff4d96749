import LinuxSystem
import TestSupport
import Testing
import Vault
import VaultTesting

@Suite("Concurrent updates")
struct UpdateConcurrencyTests {
    @Test(arguments: [TestedHome.keychain, .memory]) func eightThreadsLoseNoUpdate(_ home: TestedHome) throws {
        try withTemporaryStores { _ in
            let counter = Storable("counter", in: .store(try home.store)).defaulting(to: 0)
            try onThreads(8) { _ in
                for _ in 0..<1_000 { try counter.update { $0 += 1 } }
            }
            let count = try counter.read()
            #expect(count == 8_000)
        }
    }

    /// Others have changed the value each time until it is done, unless they give way.
    @Test(arguments: [TestedHome.keychain, .memory])
    func aSlowTransactionHasItsTurnBesideFastOnes(_ home: TestedHome) throws {
        try withTemporaryStores { _ in
            let store = try home.store
            let counter = Storable("counter", in: .store(store)).defaulting(to: 0)
            let isDone = Mutex(false)
            try onThreads(3) { thread in
                guard thread == 0 else {
                    while !isDone.withLock({ $0 }) { try counter.update { $0 += 1 } }
                    return
                }
                defer { isDone.withLock { $0 = true } }
                for _ in 0..<2 {
                    try store.atomically { transaction in
                        let count = try transaction.read(counter)
                        Clock.sleep(microseconds: 150_000)
                        try transaction.write(count + 1, to: counter)
                    }
                }
            }
        }
    }

    @Test func threadsMoveMoneyAndNoneIsLost() throws {
        try withTemporaryStores { stores in
            for store in [stores.keychain, stores.preferences, stores.memory.scoped(to: "a")] as [any ValueStore] {
                let accounts = (0..<4).map { Storable("account \($0)", in: .store(store)).defaulting(to: 100) }
                try onThreads(4) { thread in
                    for number in 0..<25 {
                        let from = accounts[thread]
                        let to = accounts[(thread + 1 + number % 3) % 4]
                        try store.atomically { transaction in
                            let source = try transaction.read(from)
                            let target = try transaction.read(to)
                            try transaction.write(source - 1, to: from)
                            try transaction.write(target + 1, to: to)
                        }
                    }
                }
                let sum = try accounts.map { try $0.read() }.reduce(0, +)
                #expect(sum == 400)
            }
        }
    }
}
