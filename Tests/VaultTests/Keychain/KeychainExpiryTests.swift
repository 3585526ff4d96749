import Foundation
import TestSupport
import Testing
import VaultTesting

@testable import Vault

@Suite("Values that expire, in a keychain", .temporaryStores)
struct KeychainExpiryTests {
    private let past = Date(timeIntervalSinceNow: -100)
    private let future = Date(timeIntervalSinceNow: 100_000)

    @Test func areAbsentToEveryCallThatReads() throws {
        let keychain = try Keychain.standard
        try keychain.set("a", to: "past", expires: past)
        try keychain.set("b", to: "future", attributes: ["k": "v"], expires: future)
        try keychain.set("c", to: [1])
        #expect(try keychain.get("a") == nil)
        #expect(try keychain.withSecret("a") { $0.byteCount } == nil)
        #expect(try keychain.unsafeString("a") == nil)
        #expect(try keychain.value(of: "a") == nil)
        #expect(try keychain.item("a") == nil)
        #expect(try !keychain.exists("a"))
        #expect(try keychain.items().map(\.name) == ["b", "c"])
        #expect(try keychain.keys() == ["b", "c"])
        #expect(try keychain.keys(prefix: "") == ["b", "c"])
        #expect(try keychain.contents(prefix: "") == ["b": .string("future"), "c": .data(Data([1]))])
        #expect(try keychain.unsafeString("b") == "future")
    }

    @Test func tellWhenTheyExpire() throws {
        let keychain = try Keychain.standard
        let time = Date(timeIntervalSince1970: 4_000_000_000.125)
        try keychain.set("a", to: "x", expires: time)
        #expect(try keychain.item("a")?.expires == time)
        try keychain.set("a", to: "x")
        #expect(try keychain.item("a")?.expires == nil)
        #expect(try keychain.items().map(\.expires) == [nil])
        for distant in [Date.distantFuture, Date(timeIntervalSince1970: .infinity)] {
            try keychain.set("a", to: "x", expires: distant)
            #expect(try keychain.unsafeString("a") == "x")
        }
        try keychain.set("a", to: "x", expires: .distantPast)
        #expect(try keychain.get("a") == nil)
    }

    @Test func countAsAbsentInTransactionsAndExpectations() throws {
        let keychain = try Keychain.standard
        try keychain.set("a", to: "past", expires: past)
        #expect(try keychain.commit(StoreBatch(["b": .integer(1)], expecting: ["a": nil])))
        #expect(try !keychain.commit(StoreBatch(["b": .integer(2)], expecting: ["a": .string("past")])))
        try keychain.transaction { transaction in
            #expect(try !transaction.exists("a"))
            #expect(try transaction.get("a") == nil)
            #expect(try !transaction.remove("a"))
            try transaction.set("c", to: "at once", expires: past)
            #expect(try !transaction.exists("c"))
            #expect(try transaction.get("c") == nil)
            try transaction.set("d", to: [1], expires: future)
            #expect(try transaction.exists("d"))
        }
        #expect(try keychain.keys() == ["b", "d"])
        #expect(try keychain.item("d")?.expires != nil)
        let error = #expect(throws: VaultError.self) { try keychain.rename("c", to: "e") }
        #expect(error?.code == .absent)
    }

    @Test func takeTheirExpiryToAnotherName() throws {
        let keychain = try Keychain.standard
        try keychain.set("a", to: "x", expires: future)
        let expires = try keychain.item("a")?.expires
        try keychain.copy("a", to: "b")
        try keychain.rename("a", to: "c")
        #expect(try keychain.items().map(\.expires) == [expires, expires])
        try keychain.set("old", to: "x", expires: past)
        try keychain.rename("b", to: "old")
        #expect(try keychain.keys() == ["c", "old"])
    }

    // MARK: Typed keys

    @Test func ofATypeAreAbsentToo() throws {
        let keychain = try Keychain.standard
        let key = KeychainStorable<Int>("n").defaulting(to: 7)
        try key.write(1, expires: past)
        #expect(try key.read() == 7)
        #expect(try !key.exists())
        try key.update { $0 += 1 }
        #expect(try key.read() == 8)
        #expect(try keychain.item("n")?.expires == nil)
        try key.write(2, expires: future)
        #expect(try key.read() == 2)
        #expect(try keychain.item("n")?.expires != nil)
        try key.write(3)
        #expect(try keychain.item("n")?.expires == nil)
    }

    @Test func belongToTheirScope() throws {
        let scope = try Keychain.standard.scoped(to: "ann")
        let key = KeychainStorable<[Int]>("n", in: .store(scope))
        try key.write([1], expires: future)
        #expect(try Keychain.standard.item("ann/n")?.expires != nil)
        try key.write(secret: SecretBytes(utf8: "x"), expires: past)
        #expect(try key.read() == nil)
        #expect(try scope.keys(prefix: "") == [])
    }

    @Test func areRefusedByAStoreThatKeepsNoSecrets() throws {
        let key = KeychainStorable<Int>("n", in: .store(MemoryStore()))
        #expect(try VaultError.code { try key.write(1, expires: future) } == .invalid)
    }

    @Test func moveTheOldStoresValueAwayFirst() throws {
        try Storable<Int>("n").write(1)
        let key = KeychainStorable<Int>("n", movedFrom: .preferences)
        try key.write(2, expires: past)
        #expect(try key.read() == nil)
        #expect(try Preferences.standard.keys(prefix: "") == [])
    }
}
