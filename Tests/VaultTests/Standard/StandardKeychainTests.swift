import Foundation
import TestSupport
import Testing
import VaultTesting

@testable import Vault

@Suite("The standard keychain", .timeLimit(.minutes(10)))
struct StandardKeychainTests {
    private let folder: TemporaryFolder
    private let location: VaultLocation
    private let shared: StandardKeychain

    private func program(_ name: String) -> StandardKeychain {
        StandardKeychain(KeychainPart(prefix: name.scopePrefix, showsOthers: true)) { [location] in location }
    }

    init() throws {
        folder = try TemporaryFolder()
        location = VaultLocation(
            vault: folder.file("v/test.vault"), keyFile: folder.file("k/test.key"), rollbackMemory: folder.file("state")
        )
        shared = StandardKeychain(nil) { [location] in location }
    }

    private var isAnythingMade: Bool { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) != [] }

    @Test func readingAndRemovingMakesNoVault() throws {
        for store in [shared, program("p")] {
            let key = KeychainStorable<String>("k", in: .store(store))
            #expect(try key.read() == nil && !key.exists())
            #expect(try key.withSecret { _ in } == nil)
            try key.remove()
            try key.update { $0 = nil }
            #expect(try store.contents(prefix: "").isEmpty && store.keys(prefix: "").isEmpty)
            try store.makeDurable()
        }
        #expect(!isAnythingMade)
    }

    @Test func writingMakesTheVault() throws {
        let key = KeychainStorable<String>("k", in: .store(shared))
        #expect(try key.read() == nil)
        try key.write("secret")
        #expect(try Keychain(at: location).unsafeString("k") == "secret")
        #expect(try shared.identity == Keychain(at: location).identity)
    }

    @Test func aKeyIsFollowedFromBeforeThereIsAVault() async throws {
        let key = KeychainStorable<String>("k", in: .store(shared))
        var values = key.values.makeAsyncIterator()
        #expect(try await values.next(isolation: #isolation) == .some(nil))
        // As another process would make it.
        try await KeychainStorable("k", in: .store(try Keychain(at: location, creatingIfAbsent: true))).write("secret")
        #expect(try await values.next(isolation: #isolation) == "secret")
    }

    @Test func twoProgramsWithoutNamesDoNotMeet() throws {
        let programs = ["one", "two"].map(program)
        let keys = programs.map { KeychainStorable<String>("u.token", in: .store($0)) }
        try keys[0].write("a")
        #expect(try keys[1].read() == nil)
        try keys[1].write("b")
        #expect(try keys.map { try $0.read() } == ["a", "b"])
        #expect(try Keychain(at: location).keys(prefix: "") == ["one/u.token", "two/u.token"])
    }

    @Test func aProgramWithoutANameReadsWhatThePersonSetAndLeavesItAlone() throws {
        let keychain = try Keychain(at: location, creatingIfAbsent: true)
        try keychain.set("u.token", to: "by hand")
        let program = self.program("p")
        let key = KeychainStorable<String>("u.token", in: .store(program))
        #expect(try key.read() == "by hand")
        #expect(try key.withSecret { $0.byteCount } == 7)
        try key.update { $0? += "!" }
        #expect(try key.read() == "by hand!")
        #expect(try keychain.unsafeString("u.token") == "by hand")
        #expect(try program.keys(prefix: "") == ["u.token"])
        #expect(try self.program("q").keys(prefix: "") == [])
        // What is removed does not show again.
        try key.remove()
        #expect(try key.read() == nil)
        #expect(try keychain.keys(prefix: "") == [])
    }

    @Test func aPartIsAKeychainLikeAnyOther() throws {
        let whole = try Keychain(at: location, creatingIfAbsent: true)
        try whole.set("other/k", to: "theirs")
        try whole.set("shared", to: "by hand")
        let keychain = try program("mail").open(creatingIfAbsent: false)
        try keychain.set("u.token", to: "secret", attributes: ["service": "mail"])
        #expect(try keychain.unsafeString("u.token") == "secret" && whole.unsafeString("mail/u.token") == "secret")
        #expect(try keychain.keys() == ["u.token"])
        #expect(try keychain.items().map(\.name) == ["u.token"])
        #expect(try keychain.item("shared")?.name == "shared" && keychain.item("other/k")?.name == "other/k")
        #expect(try Set(keychain.contents(prefix: "u.").keys) == ["u.token"])
        try keychain.rename("u.token", to: "u.renamed")
        try keychain.copy("shared", to: "u.copy")
        #expect(try whole.keys() == ["mail/u.copy", "mail/u.renamed", "other/k", "shared"])
        let kept = try keychain.transaction { (transaction) throws(VaultError) in
            let existed = try transaction.remove("shared")
            return try [existed, transaction.exists("shared"), transaction.exists("u.copy")]
        }
        #expect(kept == [true, false, true])
        #expect(try keychain.remove("u.copy") && !keychain.remove("u.copy"))
        #expect(try whole.keys() == ["mail/u.renamed", "other/k"])
        #expect(keychain.identity != whole.identity)
        #expect(try VaultError.code { try keychain.set("", to: "a") } == .invalid)
        let moved = KeychainStorable<String>("k", in: .store(keychain), movedFrom: .store(whole), formerName: "other/k")
        #expect(try moved.read() == "theirs")
        try keychain.atomically { (transaction) throws(VaultError) in
            try transaction.write("both", to: KeychainStorable<String>("k", in: .store(self.program("mail"))))
        }
        #expect(try moved.read() == "both")
    }

    @Test func aValueOfTheWholeVaultThatAPartHasOrShowsIsNotMoved() throws {
        let whole = try Keychain(at: location, creatingIfAbsent: true)
        try whole.set("mail/own", to: "own")
        try whole.set("k", to: "by hand")
        let mail = StoreReference.store(program("mail"))
        let own = KeychainStorable<String>("own", in: mail, movedFrom: .store(whole), formerName: "mail/own")
        let shown = KeychainStorable<String>("k", in: mail, movedFrom: .store(whole))
        #expect(try own.read() == "own" && shown.read() == "by hand")
        #expect(try whole.keys() == ["k", "mail/own"])
    }

    @Test func anExpectationHoldsOnlyForWhatIsSeen() throws {
        let keychain = try Keychain(at: location, creatingIfAbsent: true)
        let program = self.program("p")
        try keychain.set("k", to: "by hand")
        #expect(try !program.commit(StoreBatch(["k": .string("new")], expecting: ["k": nil])))
        #expect(try program.commit(StoreBatch(["k": .string("new")], expecting: ["k": .string("by hand")])))
        #expect(try !program.commit(StoreBatch(["k": .string("newer")], expecting: ["k": .string("by hand")])))
        #expect(try program.value(of: "k") == .string("new"))
    }
}

@Suite("The name of a program")
struct VaultAppTests {
    @Test func isFixedOnceItIsGivenOrUsed() async {
        await #expect(processExitsWith: .success) {
            #expect(VaultApp.name.hasSuffix(".xctest") || !VaultApp.name.isEmpty)
            for name in ["", "a\nb", String(repeating: "n", count: 300)] {
                #expect(throws: VaultError.self) { try VaultApp.identify(as: name) }
            }
            try VaultApp.identify(as: "mail")
            try VaultApp.identify(as: "mail")
            #expect(VaultApp.name == "mail")
            let error = #expect(throws: VaultError.self) { try VaultApp.identify(as: "other") }
            #expect(error?.code == .invalid)
        }
        await #expect(processExitsWith: .success) {
            _ = Preferences.standard
            #expect(throws: VaultError.self) { try VaultApp.identify(as: "late") }
        }
    }

    @Test func mayHaveAVaultAndPreferencesOfItsOwnAlsoInATest() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let location = VaultLocation(
                vault: folder.file("own.vault"), keyFile: folder.file("own.key"), rollbackMemory: folder.file("state"))
            try VaultApp.identify(as: "mail", vault: location, preferences: folder.file("own.plist"))
            let token = KeychainStorable<String>("u.token")
            let theme = Storable<String>("theme")
            try await token.write("secret")
            try await theme.write("dark")
            #expect(try Keychain(at: location).keys(prefix: "") == ["u.token"])
            #expect(try Preferences(path: folder.file("own.plist")).value(of: "theme") == .string("dark"))
            #expect(try Keychain.standard.location == location)
        }
    }
}
