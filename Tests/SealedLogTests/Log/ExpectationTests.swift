import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Transactions and what they expect")
struct ExpectationTests {
    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open()
    }

    @Test func whatHasToBeAbsentIsNotReplaced() throws {
        try log.set("a", [1], .absent)
        #expect(try LogError.code { try log.set("a", [2], .absent) } == .exists)
        #expect(try log.get("a") == [1])
        try log.remove("a")
        try log.set("a", [3], .absent)
        #expect(try log.get("a") == [3])
    }

    @Test func whatHasToBeUnchangedIsNotReplacedOnceItIs() throws {
        func nonce() throws -> Nonce? { try log.entry(.sample("a"))?.content?.current.nonce }
        try log.set("a", [1], .unchanged(nil))
        let first = try nonce()
        try log.set("a", [2], .unchanged(first))
        #expect(try LogError.code { try log.set("a", [3], .unchanged(first)) } == .conflict)
        #expect(try LogError.code { try log.set("a", [3], .unchanged(nil)) } == .conflict)
        #expect(try log.get("a") == [2])
        try log.remove("a")
        #expect(try LogError.code { try log.set("a", [3], .unchanged(first)) } == .conflict)
        try log.set("a", [3], .unchanged(nil))
    }

    @Test func aTransactionWhoseOneExpectationFailsChangesNothing() throws {
        try log.set("b", [1])
        let changes = try [
            log.change("a", to: [2]), log.change("b", to: [2], .absent), log.change("c", to: [2]),
        ]
        #expect(try LogError.code { try log.commit(changes, timeout: SealedLog.patience) } == .exists)
        #expect(try log.state() == ["b": [1]])
        var relying = ChangeList([try log.change("a", to: [2])])
        relying.conditions[try .sample("z")] = randomNonce()
        #expect(try LogError.code { try log.commit(relying, timeout: SealedLog.patience) } == .conflict)
        #expect(try log.state() == ["b": [1]])
    }

    @Test func aTransactionIsAllThereOrNotAtAll() throws {
        try log.set("a", [1])
        try log.make([("a", nil), ("b", [2]), ("c", [3]), ("b", [4])])
        #expect(try log.state() == ["b": [4], "c": [3]])
        #expect(try fixture.open().state() == ["b": [4], "c": [3]])
        #expect(try fixture.open().verify().records == 2)
    }
}
