import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Values that expire")
struct ExpiryTests {
    private static let day: UInt64 = 86_400_000
    private let fixture: LogFixture
    private let log: SealedLog
    private let yesterday = Clock.milliseconds - ExpiryTests.day
    private let tomorrow = Clock.milliseconds + ExpiryTests.day

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open()
    }

    /// Among the recent entries, in the tree of a minor checkpoint and in that of the checkpoint.
    private func inEachPart(_ body: (SealedLog) throws -> Void) throws {
        try body(log)
        for number in 0..<130 { try log.set("z\(number)", "x") }
        #expect(try fixture.open().view.withLock { $0.minor } != nil)
        try body(fixture.open())
        try log.compact()
        try body(log)
        try body(fixture.open())
    }

    private func isStored(_ name: String) throws -> Bool {
        try log.view.withLock { try $0.find(.sample(name))?.content } != nil
    }

    @Test func areAbsentToEveryReadOnceTheyHaveExpired() throws {
        try log.set("a", "past", expiry: yesterday)
        try log.set("b", "future", expiry: tomorrow)
        try log.set("c", "for ever")
        func check(_ log: SealedLog) throws {
            #expect(try log.text("a") == nil)
            #expect(try log.entry(.sample("a")) == nil)
            #expect(try log.text("b") == "future")
            #expect(try log.entry(.sample("b"))?.content?.expiry == tomorrow)
            #expect(try log.text("c") == "for ever")
            #expect(try log.entries().map(\.name.text).filter { $0.utf8.count == 1 } == ["b", "c"])
            let opened = try log.openTagged(prefix: []) { name, _ in name.text }
            #expect(opened.starts(with: ["b", "c"]))
            #expect(try log.verify().entries == opened.count)
        }
        try inEachPart(check)
    }

    @Test func areAbsentFromTheirExpiryOn() throws {
        var entry = try Entry.sample("a")
        entry.content?.expiry = 1_000
        #expect(entry.present(at: 999) != nil)
        #expect(entry.present(at: 1_000) == nil)
        entry.content?.expiry = nil
        #expect(entry.present(at: .max) != nil)
        #expect(try Entry.tombstone("a").present(at: 0) == nil)
    }

    @Test func countAsAbsentInExpectations() throws {
        let expiry = tomorrow
        try log.set("a", "first", expiry: expiry)
        let nonce = try log.entry(.sample("a"))?.content?.current.nonce
        func code(_ expectation: Change.Expectation, at now: UInt64) throws -> LogError.Code? {
            let change = try log.change("a", to: [2], expectation)
            return try LogError.code { _ = try log.plan([change], at: now) }
        }
        #expect(try code(.absent, at: expiry - 1) == .exists)
        #expect(try code(.unchanged(nonce), at: expiry - 1) == nil)
        #expect(try code(.unchanged(nil), at: expiry - 1) == .conflict)
        #expect(try code(.absent, at: expiry) == nil)
        #expect(try code(.unchanged(nonce), at: expiry) == .conflict)
        #expect(try code(.unchanged(nil), at: expiry) == nil)
    }

    @Test func leaveNothingToTheValueThatFollows() throws {
        let attributes = [Attribute(key: "user", value: "ann")]
        let old = try log.change("a", to: [1], attributes: attributes, expiry: yesterday)
        try log.commit([old], at: yesterday - 5)
        try log.set("a", "second")
        let content = try #require(try log.entry(.sample("a"))?.content)
        #expect(content.expiry == nil && content.attributes.isEmpty)
        #expect(content.created > yesterday)
        #expect(try log.text("a") == "second")
    }

    @Test func loseTheirExpiryToAValueWithoutOne() throws {
        try log.set("a", "first", expiry: tomorrow)
        try log.set("a", "second")
        #expect(try log.entry(.sample("a"))?.content?.expiry == nil)
    }

    @Test func areRemovedAlsoAfterTheyHaveExpired() throws {
        try log.set("a", "past", expiry: yesterday)
        #expect(try isStored("a"))
        try log.remove("a")
        #expect(try !isStored("a"))
    }

    @Test func areDroppedByACompaction90DaysLater() throws {
        for (name, days) in [("old", 91), ("young", 89)] as [(String, UInt64)] {
            let expiry = Clock.milliseconds - days * ExpiryTests.day
            try log.commit([log.change(name, to: [1], expiry: expiry)], at: expiry - ExpiryTests.day)
        }
        // Who sets a value that has expired long ago wants it to be there for a while.
        try log.set("late", "x", expiry: Clock.milliseconds - 91 * ExpiryTests.day)
        try log.set("kept", "x", expiry: tomorrow)
        #expect(try log.information().entries == 4)
        try log.compact()
        #expect(try !isStored("old"))
        #expect(try isStored("young") && isStored("late"))
        #expect(try log.text("kept") == "x")
        #expect(try log.information().entries == 3)
        #expect(try fixture.open().verify().entries == 1)
    }
}
