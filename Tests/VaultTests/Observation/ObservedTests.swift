import LinuxSystem
import Observation
import TestSupport
import Testing
import VaultTesting

@testable import PlainStores
@testable import Vault

@MainActor @Observable private final class Session {
    let token: Observed<String?>
    var greeting: String { token.value.map { "Hello \($0)" } ?? "Hello" }

    init(_ key: Storable<String>) {
        token = Observed(key)
    }
}

@Suite("Observed values", .temporaryStores, .timeLimit(.minutes(10)))
struct ObservedTests {
    @Test(arguments: TestedHome.allCases)
    @MainActor func areThereFromTheBeginningAndFollowTheKey(_ home: TestedHome) async throws {
        let key: Storable<String> = try home.key("k")
        try await key.write("a")
        let observed = Observed(key)
        #expect(observed.value == "a")
        #expect(observed.error == nil)
        try await key.write("b")
        for await value in Observations({ observed.value }) where value == "b" { break }
        try await key.remove()
        for await value in Observations({ observed.value }) where value == nil { break }
    }

    @MainActor @Test func takePartInModels() async throws {
        let key = Storable<String>("k", in: .memory)
        let session = Session(key)
        #expect(session.greeting == "Hello")
        let store = MemoryStore.standard
        for number in 1...200 {
            let change = Task.detached { store.commit(StoreBatch(["k": .string("\(number)")])) }
            var greeting = ""
            while greeting != "Hello \(number)" {
                let (change, continuation) = AsyncStream<Void>.makeStream()
                // A change after this read is notified, since it arrives on the same actor.
                greeting = withObservationTracking {
                    session.greeting
                } onChange: {
                    MainActor.preconditionIsolated()
                    continuation.yield()
                }
                if greeting != "Hello \(number)" { for await _ in change.prefix(1) {} }
            }
            _ = await change.value
        }
    }

    @MainActor @Test func tellOfTheChangeAfterItIsMade() async throws {
        let key = Storable<Int>("k", in: .memory)
        let observed = Observed(key)
        let seen = Mutex<Int?>(nil)
        let (changes, continuation) = AsyncStream<Void>.makeStream()
        withObservationTracking {
            _ = observed.value
        } onChange: { [weak observed] in
            let value = observed?.value
            seen.withLock { $0 = value }
            continuation.finish()
        }
        try await key.write(1)
        for await _ in changes {}
        #expect(seen.withLock { $0 } == 1)
    }

    @MainActor @Test func keepTheValueAndTellTheErrorUntilTheKeyCanBeReadAgain() async throws {
        let key = Storable<Int>("k", in: .memory).defaulting(to: 0)
        let text = Storable<String>("k", in: .memory)
        try await key.write(1)
        let observed = Observed(key)
        try await text.write("text")
        for await error in Observations({ observed.error?.code }) where error == .wrongType { break }
        #expect(observed.value == 1)
        try await key.write(1)
        for await error in Observations({ observed.error?.code }) where error == nil { break }
        #expect(observed.value == 1)
    }

    @MainActor @Test func ofAStoreThatCannotBeOpenedTellTheError() {
        let locked = StoreReference { () throws(VaultError) in throw VaultError(.locked, "No key.") }
        let observed = Observed(Storable<String>("k", in: locked))
        #expect(observed.error?.code == .locked)
        #expect(observed.value == nil)
    }

    @Test func followTheirKeyOnlyUntilTheyAreReleased() async throws {
        let changes = MemoryStore.standard.changes
        var observed: Observed<Int?>? = Observed(Storable<Int>("k", in: .memory), on: MainActor.shared)
        #expect(changes.observerCount == 1)
        weak let reference = observed
        observed = nil
        #expect(reference == nil)
        try await ThisProcess.wait { changes.observerCount == 0 }
    }

    private actor Owner {
        private var observed: Observed<Int?>?
        var value: Int? { observed?.value ?? nil }

        func observe(_ key: Storable<Int>) { observed = Observed(key, on: self) }
    }

    @Test func doNotKeepTheActorThatOwnsThem() async throws {
        let key = Storable<Int>("k", in: .memory)
        let changes = MemoryStore.standard.changes
        var owner: Owner? = Owner()
        weak let reference = owner
        await owner?.observe(key)
        try await key.write(1)
        while await owner?.value != 1 { await Task.yield() }
        owner = nil
        try await ThisProcess.wait { reference == nil && changes.observerCount == 0 }
    }
}
