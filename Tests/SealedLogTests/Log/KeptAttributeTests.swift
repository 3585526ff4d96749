import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// An attribute that an entry keeps, if the one who changes it says so.
@Suite("An attribute that is kept")
struct KeptAttributeTests {
    private static let kept = Attribute(key: "guard", value: "on")
    private static let other = Attribute(key: "url", value: "x")
    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture(history: .standard)
        log = try fixture.open()
    }

    private func commit(_ changes: [Change], keeping key: String? = "guard", values: [String: String] = [:]) throws {
        var list = ChangeList(changes)
        list.keptAttribute = key
        for (name, value) in values { list.keptValues[try .sample(name)] = value }
        try log.commit(list, timeout: SealedLog.patience)
    }

    private func set(
        _ text: String, _ attributes: [Attribute]?, keeping key: String? = "guard", expiry: UInt64? = nil
    ) throws {
        let change = try log.change("a", to: Array(text.utf8), attributes: attributes, expiry: expiry)
        try commit([change], keeping: key)
    }

    private var attributes: [Attribute]? { get throws { try log.history(.sample("a"))?.content?.attributes } }

    private func restore(_ index: Int, values: [String: String] = [:]) throws {
        try commit([log.restoring("a", index)], values: values)
    }

    @Test func staysWhateverAttributesAreSet() throws {
        try set("first", [Self.kept])
        for attributes in [nil, [], [Self.other], [Attribute(key: "guard", value: "")], [Self.kept]] {
            try set("next", attributes)
            let others = (attributes ?? []).filter { $0.key != "guard" }
            #expect(try self.attributes == [Self.kept] + others)
        }
        try set("last", [Self.other], keeping: nil)
        #expect(try attributes == [Self.other])
    }

    @Test func isNoneIfItIsEmpty() throws {
        try set("first", [Attribute(key: "guard", value: "")])
        try set("next", [Self.other])
        #expect(try attributes == [Self.other])
    }

    @Test func staysWhenTheValueHasExpired() throws {
        try set("first", [Self.kept, Self.other], expiry: Clock.milliseconds - 1)
        #expect(try log.text("a") == nil)
        try set("next", nil)
        #expect(try attributes == [Self.kept])
    }

    @Test func goesWithARemoval() throws {
        try set("first", [Self.kept])
        try log.remove("a")
        try set("next", [Self.other])
        #expect(try attributes == [Self.other])
    }

    /// They were set one after the other in one transaction; no reader has seen the first.
    @Test func staysWithinATransaction() throws {
        try commit([
            log.change("a", to: [1], attributes: [Self.kept]), log.change("a", to: [2], attributes: [Self.other]),
        ])
        #expect(try attributes == [Self.kept, Self.other])
    }

    @Test func anotherOneIsRefusedAndNothingIsChanged() throws {
        try set("first", [Self.kept])
        let other = Attribute(key: "guard", value: "otherwise")
        #expect(throws: LogError.self) {
            try commit([
                log.change("a", to: [1], attributes: [other]), log.change("b", to: [2], attributes: [other]),
            ])
        }
        #expect(try log.text("a") == "first" && log.text("b") == nil)
    }

    @Test(arguments: [62, 63, 64]) func needsRoomAmongTheAttributes(count: Int) throws {
        try set("first", [Self.kept])
        let others = (0..<count).map { Attribute(key: "k\(100 + $0)", value: "\($0)") }
        let setting = Result { try set("next", others) }
        #expect((try? setting.get()) == nil ? count == 64 : count < 64)
        #expect(try attributes == (count < 64 ? [Self.kept] + others : [Self.kept]))
    }

    // MARK: Earlier versions

    @Test func isThatOfTheNameForAVersionFromBefore() throws {
        try set("plain", [Self.other])
        try set("guarded", [Self.kept])
        try restore(0)
        #expect(try log.text("a") == "plain")
        #expect(try attributes == [Self.kept, Self.other])
        #expect(try log.entry(.sample("a")) == fixture.open().entry(.sample("a")))
    }

    @Test func isAddedToNoVersionOnceItWasTakenAway() throws {
        try set("plain", [Self.other])
        try set("guarded", [Self.kept])
        try set("guarded", [], keeping: nil)
        try restore(1)
        #expect(try log.text("a") == "plain")
        #expect(try attributes == [Self.other])
        try restore(1)
        #expect(try log.text("a") == "guarded")
        #expect(try attributes == [Self.kept], "as it was")
    }

    /// A name that was removed, or set again since, has the versions of its former lives.
    @Test(arguments: [0, 1, 2]) func isThatOfAFormerLifeForAVersionOfIt(lives: Int) throws {
        try set("plain", [Self.other])
        try set("guarded", [Self.kept])
        try log.remove("a")
        for life in 0..<lives {
            try set("life \(life)", nil)
            if life + 1 < lives { try log.remove("a") }
        }
        try restore(1 + max(0, lives - 1))
        #expect(try log.text("a") == "plain")
        #expect(try attributes == [Self.kept, Self.other])
    }

    @Test func isGivenForAVersionThatHasNone() throws {
        try set("plain", [Self.other])
        try set("guarded", [Self.kept])
        try log.remove("a")
        try restore(0, values: ["a": "other"])
        #expect(try attributes == [Self.kept], "its own")
        try set("again", [], keeping: nil)
        try set("once more", [], keeping: nil)
        try restore(0, values: ["a": "given", "b": "not this"])
        #expect(try attributes == [Attribute(key: "guard", value: "given")])
    }
}
