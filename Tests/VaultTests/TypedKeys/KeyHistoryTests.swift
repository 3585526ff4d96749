import TestSupport
import Testing
import VaultTesting

@testable import Vault

@Suite("The history of a key", .temporaryStores)
struct KeyHistoryTests {
    private enum Name: String { case launches = "u.launches" }

    @Test(arguments: TestedHome.allCases) func aRenamedKeyTakesItsValueAlong(_ home: TestedHome) throws {
        try Storable<String>("old", in: home.reference).write("kept")
        let key = Storable<String>("new", in: home.reference, formerName: "old")
        #expect(try key.read() == "kept")
        #expect(try home.store.keys(prefix: "") == ["new"])
        // A value that an older program writes comes along until the new name has one.
        try Storable<String>("old", in: home.reference).write("older")
        #expect(try key.read() == "kept")
        #expect(try home.store.keys(prefix: "") == ["new"])
    }

    @Test func aKeyIsMovedAndRenamedAtOnce() throws {
        try Storable<String>("token").write("secret")
        let key = KeychainStorable<String>("u.token", movedFrom: .preferences, formerName: "token")
        #expect(try key.read() == "secret")
        #expect(try Preferences.standard.keys(prefix: "") == [])
        #expect(try Keychain.standard.keys(prefix: "") == ["u.token"])
    }

    @Test func aKeyThatKeepsItsNameAndStoreIsNotRemoved() throws {
        let key = Storable<String>("k", movedFrom: .preferences, formerName: "k")
        try key.write("kept")
        #expect(try key.read() == "kept")
    }

    @Test(arguments: TestedHome.allCases) func aValueOfAnEarlierTypeIsConverted(_ home: TestedHome) throws {
        let key = Storable<String>("level", in: home.reference)
            .migrating(from: Bool.self) { $0 ? "high" : nil }
            .migrating(from: Int.self) { "level \($0)" }
        try Storable<Int>("level", in: home.reference).write(7)
        #expect(try key.read() == "level 7")
        try Storable<Bool>("level", in: home.reference).write(true)
        #expect(try key.read() == "high")
        #expect(try key.defaulting(to: "none").read() == "high")
        // It stays as it is until it is written.
        #expect(try home.store.value(of: "level") == .boolean(true))
        try key.update { $0? += "er" }
        #expect(try home.store.value(of: "level") == .string("higher"))
        try Storable<Bool>("level", in: home.reference).write(false)
        #expect(try VaultError.code { _ = try key.read() } == .wrongType, "refused by the conversion")
        try Storable<Double>("level", in: home.reference).write(0.5)
        #expect(try VaultError.code { _ = try key.read() } == .wrongType)
    }

    @Test func aCaseOfAnEnumIsAName() throws {
        try Storable<Int>(Name.launches).write(3)
        #expect(try Preferences.standard.value(of: "u.launches") == .integer(3))
        let name = "computed." + "name"
        try Storable<Int>(name).write(4)
        #expect(try Preferences.standard.value(of: name) == .integer(4))
    }

    @Test func aWrapperIsRenamedToo() throws {
        struct Model {
            @Stored("launches", default: 0, formerName: "starts") var launches: Int
            @KeychainStored("u.token", movedFrom: .preferences) var token: String?
        }
        try Storable<Int>("starts").write(3)
        try Storable<String>("u.token").write("secret")
        let model = Model()
        #expect(model.launches == 3 && model.token == "secret")
        model.launches += 1
        let launches: Int = try model.$launches.read()
        #expect(launches == 4)
        #expect(try Preferences.standard.keys(prefix: "") == ["launches"])
    }
}
