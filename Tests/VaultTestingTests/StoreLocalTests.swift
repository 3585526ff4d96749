import LinuxSystem
import Testing
import Vault
import VaultTesting

@Suite("Values that belong to the stores of a test, and concurrent first uses")
struct StoreLocalConcurrencyTests {
    private final class Thing: Sendable {}

    private let place = StoreLocal { Thing() }

    @Test func eachStoresHaveOneAndTheProgramToo() throws {
        let ofProgram = place.value
        let stores = try TemporaryStores()
        let ofTest = stores.run { place.value }
        let again = stores.run { place.value }
        let inner = try stores.run { try withTemporaryStores { _ in place.value } }
        #expect(ofTest !== ofProgram && inner !== ofTest && inner !== ofProgram)
        #expect(again === ofTest && place.value === ofProgram)
        #expect(StoreLocal { Thing() }.value !== ofProgram)
    }

    @Test func tasksInheritItAndDetachedOnesDoNot() async throws {
        let ofProgram = place.value
        try await withTemporaryStores { _ in
            let ofTest = place.value
            async let child = place.value
            let inTask = Task { place.value }
            let detached = Task.detached { [place] in place.value }
            #expect(await child === ofTest)
            #expect(await inTask.value === ofTest)
            #expect(await detached.value === ofProgram)
        }
    }

    @Test func itIsReleasedWithTheStores() throws {
        weak var released: Thing?
        try withTemporaryStores { _ in
            released = place.value
            #expect(released != nil)
        }
        #expect(released == nil)
    }

    @Test func placesThatCameAndWentShareNothing() throws {
        try withTemporaryStores { _ in
            for number in 0..<100 {
                let values = (StoreLocal { number }.value, StoreLocal { "\(number)" }.value)
                #expect(values == (number, "\(number)"))
            }
        }
    }

    @Test func valuesMayAskForEachOther() throws {
        try withTemporaryStores { _ in #expect(StoreLocal<Int?> { 1 }.value == 1) }
        let outer = StoreLocal { [place] in (place.value, 1) }
        try withTemporaryStores { _ in #expect(outer.value.0 === place.value) }
        #expect(outer.value.0 === place.value)
    }

    @Test func threadsThatComeFirstTogetherGetOneValue() throws {
        let stores = try TemporaryStores()
        for _ in 0..<200 {
            let place = StoreLocal { Thing() }
            let seen = Mutex<Set<ObjectIdentifier>>([])
            try onThreads(4) { _ in
                for value in [place.value, stores.run { place.value }] {
                    seen.withLock { _ = $0.insert(ObjectIdentifier(value)) }
                }
            }
            #expect(seen.withLock { $0.count } == 2)
        }
    }
}
