import Foundation
import Testing
import VaultTesting

@testable import Vault

@Suite("Data stores", .temporaryStores)
struct DataStoreTests {
    private func stores() throws -> [any ValueStore & DataStore] {
        let keychain = try Keychain.standard
        return [keychain, Preferences.standard, MemoryStore.standard, keychain.scoped(to: "user")]
    }

    /// Codable, and no StoredObject.
    private struct Session: Codable, Equatable, Sendable {
        var user: String
        var scopes: Set<Int>
        var ends: Date?
    }

    private enum Mode: String, Codable, StoredObject { case light, dark }

    /// Codable, but stored as something else.
    private struct Angle: Codable, Equatable, StoredObject {
        var degrees: Double
        func toPrimitive() -> Double? { degrees }
        static func from(primitive: Double) -> Angle? { Angle(degrees: primitive) }
    }

    @Test func keepAnyCodableUntilItIsDeleted() async throws {
        for store in try stores() {
            let session = Session(user: "u", scopes: [1, 2], ends: Date(timeIntervalSinceReferenceDate: 0.5))
            #expect(try await store.read("s", as: Session.self) == nil)
            try await store.write(session, for: "s")
            try await store.write([session], for: "list")
            #expect(try await store.read("s", as: Session.self) == session)
            #expect(try await store.read("list", as: [Session].self) == [session])
            try await store.remove("s")
            try await store.remove("s")
            #expect(try await store.read("s", as: Session.self) == nil)
            #expect(try store.keys(prefix: "") == ["list"])
        }
    }

    private func expectSameForm<Value: StoredObject & Codable & Equatable & Sendable>(
        _ value: Value, _ other: Value
    ) async throws {
        for store in try stores() {
            let key = Storable<Value>("k", in: .store(store))
            try await key.write(value)
            #expect(try await store.read("k", as: Value.self) == value)
            let form = try store.value(of: "k")
            try await store.write(other, for: "k")
            #expect(try await key.read() == other)
            try await store.write(value, for: "k")
            #expect(try store.value(of: "k") == form)
        }
    }

    @Test func keepTheFormThatKeysOfTheTypeHave() async throws {
        try await expectSameForm("text", "")
        try await expectSameForm(5, -5)
        try await expectSameForm(true, false)
        try await expectSameForm(0.1, -0.0)
        try await expectSameForm(Data([1]), Data())
        try await expectSameForm(Date(timeIntervalSinceReferenceDate: 0.1), .distantPast)
        try await expectSameForm(URL(filePath: "/a"), URL(filePath: "/b"))
        try await expectSameForm(UUID(), UUID())
        try await expectSameForm([1, nil, 3], [])
        try await expectSameForm(["a": [1.5]], [:])
        try await expectSameForm(1 as Int?, nil)
        try await expectSameForm(Mode.dark, .light)
        try await expectSameForm(Angle(degrees: 1), Angle(degrees: 2))
        try await expectSameForm([Angle(degrees: 1)], [])
        try await expectSameForm(GraphBody(points: [1]), GraphBody(points: []))
    }

    @Test func readASecretThatTheCommandStored() async throws {
        let keychain = try Keychain.standard
        try keychain.set("k", to: SecretBytes(utf8: "canary"))
        #expect(try await keychain.read("k", as: String.self) == "canary")
        #expect(try await keychain.read("k", as: Data.self) == Data("canary".utf8))
    }

    @Test func nameBothTypesAndTheKeyButNoValue() async throws {
        for store in try stores() {
            try await store.write("canary", for: "k")
            let whole = await #expect(throws: VaultError.self) { try await store.read("k", as: Int.self) }
            #expect(whole?.code == .wrongType)
            #expect(whole?.message == "The value of \"k\" is a string, so it cannot be read as an integer (Int).")
            try await store.write(["user": "canary", "scopes": "canary"], for: "k")
            let inner = await #expect(throws: VaultError.self) { try await store.read("k", as: Session.self) }
            #expect(inner?.code == .unreadable)
            #expect(
                inner?.message
                    == "The value of \"k\" cannot be read as Session (at scopes: expected an array, found a string). It was left alone."
            )
            #expect(try await store.read("k", as: [String: String].self)?.count == 2)
        }
    }

    @Test func refuseWhatCannotBeStoredAndKeepWhatWasThere() async throws {
        struct Wide: Codable, Sendable { var number = Int128.max }
        for store in try stores() {
            try await store.write("old", for: "k")
            let error = await #expect(throws: VaultError.self) { try await store.write(Wide(), for: "k") }
            #expect(error?.message == "This Wide for \"k\" cannot be stored: at number: an integer out of bounds.")
            #expect(try await store.read("k", as: String.self) == "old")
        }
    }

    @Test(arguments: ["", "a\nb", String(repeating: "k", count: 1_025)])
    func refuseKeysThatAreNone(_ key: String) async throws {
        for store in try stores() {
            let read = await #expect(throws: VaultError.self) { try await store.read(key, as: Int.self) }
            let write = await #expect(throws: VaultError.self) { try await store.write(1, for: key) }
            let delete = await #expect(throws: VaultError.self) { try await store.remove(key) }
            #expect([read, write, delete].allSatisfy { $0?.code == .invalid })
        }
    }

    @Test func tellTheirErrorsApartFromAbsence() async throws {
        let preferences = Preferences.standard
        try Data("no plist".utf8).write(to: URL(filePath: preferences.path))
        let error = await #expect(throws: VaultError.self) { try await preferences.read("k", as: Int.self) }
        #expect(error?.code == .damaged)
    }

    @MainActor @Test func leaveTheCallersActor() async throws {
        /// Notes whether its conversion runs on the main actor. Its queue tells: it may change its thread.
        struct Witness: Codable, Sendable {
            static let mark = DispatchSpecificKey<Bool>()
            var wasOnMain = DispatchQueue.getSpecific(key: mark) == true
            init() {}
            init(from decoder: any Decoder) throws {}
            func encode(to encoder: any Encoder) throws {}
        }
        DispatchQueue.main.setSpecific(key: Witness.mark, value: true)
        let here = Witness()
        #expect(here.wasOnMain)
        let store = MemoryStore.standard
        try await store.write(here, for: "k")
        #expect(try await store.read("k", as: Witness.self)?.wasOnMain == false)
    }
}
