import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

/// Where the `vault` command has opened a keychain, a policy stays with what it guards.
@Suite("Policies")
struct PolicyTests {
    private let fixture: KeychainFixture
    private let keychain: Keychain

    init() throws {
        fixture = try KeychainFixture()
        keychain = try fixture.openKeepingPolicies()
        try keychain.set("shop", to: "password", attributes: ["policy": "run", "url": "x"])
        try keychain.set("shop.pin", to: "1234")
        try keychain.set("other", to: "plain", attributes: ["tier": "y"])
    }

    private func attributes(_ name: String) throws -> [String: String]? { try keychain.item(name)?.attributes }

    /// Each replaces the value of `shop`, with attributes of its own.
    static let replacements: [(what: String, replace: @Sendable (Keychain) throws -> Void)] = [
        ("set", { try $0.set("shop", to: "new", attributes: ["tier": "y"]) }),
        ("a transaction", { try $0.transaction { try $0.set("shop", to: "new", attributes: ["tier": "y"]) } }),
        ("a copy", { try $0.copy("other", to: "shop", replacing: true) }),
        ("a new name", { try $0.rename("other", to: "shop", replacing: true) }),
        (
            "a drop",
            { keychain in
                let file = try Keychain.DropBox.seal(
                    "shop", SecretBytes(utf8: "new"), attributes: ["tier": "y", "policy": ""],
                    to: keychain.dropBox.recipient())
                try keychain.dropBox.collect([keychain.dropBox.open(file)], replacing: true)
            }
        ),
    ]

    @Test(arguments: replacements.indices) func stayWhateverReplacesAValue(_ index: Int) throws {
        try Self.replacements[index].replace(keychain)
        #expect(try keychain.text("shop") != "password")
        #expect(try attributes("shop") == ["policy": "run", "tier": "y"])
    }

    @Test func areReplacedWithTheOtherAttributesUnlessTheyAreToBeKept() throws {
        try fixture.open().set("shop", to: "new", attributes: ["tier": "y"])
        #expect(try attributes("shop") == ["tier": "y"])
    }

    private func put(_ attributes: [String: String], replacing: Bool = true) throws -> Keychain.PutOutcome {
        let value = SealableValue(kind: .text, bytes: try SecretBytes(utf8: "new"))
        return try keychain.put("shop", value, adding: attributes, replacing: replacing)
    }

    @Test func attributesThatArePutAreAdded() throws {
        #expect(try put(["tier": "y", "url": "z"]) == .replaced)
        #expect(try attributes("shop") == ["policy": "run", "tier": "y", "url": "z"])
        // Others have changed it, and this process has not read that.
        try fixture.open().set("shop", to: "theirs", attributes: ["a": "b"])
        #expect(try put(["tier": "y"]) == .replaced)
        #expect(try attributes("shop") == ["a": "b", "tier": "y"])
        #expect(try put([:]) == .replaced)
        #expect(try put(["c": "d"], replacing: false) == .kept)
        #expect(try attributes("shop") == ["a": "b", "tier": "y"])
    }

    // MARK: Fields

    private func refusal(_ body: () throws -> Void) throws -> VaultError? {
        let error = try VaultError.error(body)
        #expect(error == nil || error?.code == .guarded)
        return error
    }

    @Test func aLoginDoesNotLeaveItsFields() throws {
        let ways: [() throws -> Void] = [
            { try keychain.remove("shop") }, { try keychain.history.purge("shop") },
            { try keychain.rename("shop", to: "store") },
            { try keychain.transaction { (transaction) in _ = try transaction.remove("shop") } },
        ]
        for way in ways {
            let error = try #require(try refusal(way))
            #expect(error.causes == [.fieldLeft("shop.pin", policy: "run")])
            #expect(error.message.contains("\"shop\"") && error.message.contains("\"shop.pin\""))
        }
        #expect(try keychain.text("shop") == "password")
        try keychain.relocate([("shop", "store"), ("shop.pin", "store.pin")], replacing: false, removing: true)
        #expect(try attributes("store.pin") == [:], "its login guards it")
        try keychain.history.purge(["store", "store.pin"])
    }

    private func loginAttributes(
        of field: String, _ login: String
    ) throws -> (attributes: [String: String], isPresent: Bool)? {
        guard let found = try keychain.guardedValue(field, of: login) else { return nil }
        return (found.loginAttributes, found.isLoginPresent)
    }

    @Test func aLoginThatIsExpiredGuardsItsFields() throws {
        try keychain.set("shop", to: "password", expires: Date(timeIntervalSinceNow: -1))
        let found = try #require(try loginAttributes(of: "shop.pin", "shop"))
        #expect(found.attributes == ["policy": "run", "url": "x"] && !found.isPresent)
        #expect(try refusal { try keychain.remove("shop") } != nil)
        try keychain.copy("shop.pin", to: "pin")
        #expect(try attributes("pin") == ["policy": "run"])
    }

    @Test func aLoginWithoutAPolicyLeavesThem() throws {
        _ = try keychain.setAttributes(of: "shop", ["policy": nil])
        try keychain.remove("shop")
        #expect(try keychain.text("shop.pin") == "1234")
    }

    /// What only looks like a field does not keep a login, and neither does a field with a policy of its own.
    @Test func aFieldThatNeedsNoneKeepsNoLogin() throws {
        _ = try keychain.setAttributes(of: "shop.pin", ["policy": "run"])
        for name in ["shop.a.b", "shop.a/b", "shop.", "shopping"] { try keychain.set(name, to: "v \(name)") }
        try keychain.remove("shop")
        #expect(try attributes("shop.pin") == ["policy": "run"])
    }

    @Test func aFieldTakesThePolicyAlong() throws {
        try keychain.copy("shop.pin", to: "pin")
        try keychain.copy("shop.pin", to: "shop.puk")
        try keychain.rename("shop.pin", to: "other.pin")
        #expect(try attributes("pin") == ["policy": "run"])
        #expect(try attributes("shop.puk") == [:], "its login guards it")
        #expect(try attributes("other.pin") == ["policy": "run"])
    }

    @Test func aFieldThatComesBackWithoutItsLoginIsGuarded() throws {
        try keychain.transaction { (transaction) in
            for name in ["shop", "shop.pin"] { _ = try transaction.remove(name) }
        }
        try keychain.set("shop", to: "another one")
        try keychain.history.restore("shop.pin")
        #expect(try attributes("shop.pin") == ["policy": "run"])
        #expect(try attributes("shop") == [:])
    }

    @Test func aChangeThatIsTakenBackLeavesThem() throws {
        _ = try keychain.setAttributes(of: "other", ["policy": "run"])
        #expect(try keychain.history.undo() == ["other"])
        #expect(try attributes("other") == ["policy": "run", "tier": "y"])
        _ = try keychain.setAttributes(of: "other", ["policy": nil])
        #expect(try keychain.history.undo() == ["other"])
        #expect(try attributes("other") == ["policy": "run", "tier": "y"], "it had one before")
        try keychain.set("shop.puk", to: "5678")
        try keychain.set("new.pin", to: "90")
        try keychain.set("new", to: "x", attributes: ["policy": "run"])
        #expect(try refusal { try keychain.history.undo() } != nil)
    }

    // MARK: Any order

    /// Whatever is done, a value that was guarded is guarded, until the policy is taken away.
    @Test(arguments: 0..<(Sanitizer.isAddress ? 300 : 30)) func holdInAnyOrderOfChanges(seed: Int) throws {
        var course = PolicyCourse(seed: seed, keychain)
        try keychain.history.setRetention(.init(versions: 255, days: 90))
        for _ in 0..<60 {
            try course.step()
            let unguarded = try course.unguarded()
            let steps = course.steps.joined(separator: "\n")
            try #require(unguarded == [], "seed \(seed):\n\(steps)")
        }
    }
}

extension KeychainFixture {
    /// Opens the vault as the command does.
    func openKeepingPolicies() throws -> Keychain {
        var options = Keychain.Options()
        options.keepsPolicies = true
        return try Keychain(at: location, creatingIfAbsent: true, options: options)
    }
}
