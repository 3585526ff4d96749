import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("A list of changes")
struct ChangeListTests {
    private let keys: KeyRing

    init() throws { keys = try randomKeys() }

    private func value(_ size: Int) -> SealedValue {
        let version = StoredVersion(kind: 7, nonce: randomNonce(), offset: 160, length: size)
        return SealedValue(version: version, box: RandomBytes.array(version.boxLength)[...], keys: keys)
    }

    /// All that a change is.
    private func fields(_ change: Change) -> [String] {
        guard case .set(let value, let attributes, let expiry) = change.action else {
            return ["\(change.name)", "\(change.expectation)", "removed"]
        }
        let version = value.version
        return [
            "\(change.name)", "\(change.expectation)", "\(version.kind) \(version.nonce) \(version.length)",
            "\(Array(value.box))", "\(attributes as Any)", "\(expiry as Any)",
        ]
    }

    @Test func givesBackEveryChangeAsItWas() throws {
        let many = (0..<64).map { Attribute(key: "key \($0)", value: String(repeating: "v", count: $0 * 10)) }
        let actions: [Change.Action] = [
            .remove, .set(value(0), attributes: nil), .set(value(40), attributes: []),
            .set(value(5_000), attributes: many, expiry: 0), .set(value(17), attributes: nil, expiry: .max),
        ]
        let expectations: [Change.Expectation] = [.anything, .absent, .unchanged(nil), .unchanged(randomNonce())]
        var changes: [Change] = []
        for action in actions {
            for expectation in expectations {
                changes.append(Change(try .sample("name \(changes.count)"), expectation, action))
            }
        }
        let list = ChangeList(changes)
        #expect(list.count == changes.count)
        for (number, change) in changes.enumerated() {
            #expect(fields(list[number]) == fields(change))
            #expect(list.newest(change.name).map(fields) == fields(change))
        }
    }

    @Test func knowsTheNewestChangeOfAName() throws {
        let name = try EntryName.sample("a")
        var list = ChangeList()
        #expect(list.isEmpty && list.newest(name) == nil)
        list.append(Change(name, .anything, .set(value(40), attributes: nil)))
        #expect(!list.isEmpty && list.newest(name)?.action.presentValue != nil)
        list.append(Change(name, .anything, .remove))
        let newest = try #require(list.newest(name))
        #expect(newest.action.presentValue == nil && list.count == 2)
        #expect(list.newest(try .sample("b")) == nil)
    }

    @Test func isNotEmptyIfItOnlyDependsOnSomething() throws {
        var list = ChangeList()
        list.conditions[try .sample("a")] = .some(nil)
        #expect(!list.isEmpty)
    }
}
