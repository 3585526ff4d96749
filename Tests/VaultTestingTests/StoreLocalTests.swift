import LinuxSystem
import Testing
import Vault
import VaultTesting

@Suite("Values that belong to the stores of a test, and concurrent first uses")
struct StoreLocalConcurrencyTests {
    private final class Thing: Sendable {}

    private let local = StoreLocal { Thing() }

    @Test func eachStoresHaveOneAndTheProgramToo() throws {
        let ofProgram = local.value
        let stores = try TemporaryStores()
        let ofTest = stores.run { local.value }
        let again = stores.run { local.value }
        let inner = try stores.run { try withTemporaryStores { _ in local.value } }
        #expect(ofTest !== ofProgram && inner !== ofTest && inner !== ofProgram)
        #expect(again === ofTest && local.value === ofProgram)
        #expect(StoreLocal { Thing() }.value !== ofProgram)
    }

    @Test func tasksInheritItAndDetachedOnesDoNot() async throws {
        let ofProgram = local.value
        try await withTemporaryStores { _ in
            let ofTest = local.value
            async let child = local.value
            let inTask = Task { local.value }
            let detached = Task.detached { [local] in local.value }
            #expect(await child === ofTest)
            #expect(await inTask.value === ofTest)
            #expect(await detached.value === ofProgram)
        }
    }

    @Test func itIsReleasedWithTheStores() throws {
        weak var released: Thing?
        try withTemporaryStores { _ in
            released = local.value
            #expect(released != nil)
        }
        #expect(released == nil)
    }

    @Test func localsThatCameAndWentShareNothing() throws {
        try withTemporaryStores { _ in
            for number in 0..<100 {
                let values = (StoreLocal { number }.value, StoreLocal { "\(number)" }.value)
                #expect(values == (number, "\(number)"))
            }
        }
    }

    @Test func valuesMayAskForEachOther() throws {
        try withTemporaryStores { _ in #expect(StoreLocal<Int?> { 1 }.value == 1) }
        let outer = StoreLocal { [local] in (local.value, 1) }
        try withTemporaryStores { _ in #expect(outer.value.0 === local.value) }
        #expect(outer.value.0 === local.value)
    }

    @Test func threadsThatComeFirstTogetherGetOneValue() throws {
        let stores = try TemporaryStores()
        for _ in 0..<200 {
            let local = StoreLocal { Thing() }
            let seen = Mutex<Set<ObjectIdentifier>>([])
            try onThreads(4) { _ in
                for value in [local.value, stores.run { local.value }] {
                    seen.withLock { _ = $0.insert(ObjectIdentifier(value)) }
                }
            }
            #expect(seen.withLock { $0.count } == 2)
        }
    }
}
