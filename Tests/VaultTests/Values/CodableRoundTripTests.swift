import Foundation
import Testing
import VaultTesting

@testable import PlainStores
@testable import Vault

@Suite("Codable values", .temporaryStores)
struct CodableRoundTripTests {
    /// Through every store, and through a file that is read anew.
    private func expectToComeBack<Value: StoredObject & Equatable>(_ value: Value) throws {
        let keychain = try Keychain.standard
        for store in [keychain, Preferences.standard, MemoryStore.standard] as [any ValueStore] {
            let key = Storable<Value>("k", in: .store(store))
            try key.write(value)
            #expect(try key.read() == value)
        }
        let reopened = try Keychain(at: keychain.location)
        #expect(try Storable<Value>("k", in: .store(reopened)).read() == value)
        let file = try Preferences(path: Preferences.standard.path)
        #expect(try Storable<Value>("k", in: .store(file)).read() == value)
    }

    @Test func comeBackWithAllTheirKindsOfFields() throws {
        // The property list has no null character in a string.
        var value = Everything()
        value.text.removeLast()
        try expectToComeBack(value)
        let key = Storable<Everything>("e", in: .keychain)
        try key.write(Everything())
        #expect(try key.read() == Everything())
    }

    @Test func comeBackFromContainersThatAreFilledByHand() throws {
        try expectToComeBack(ByHand())
    }

    @Test func comeBackWithTheirSuperclass() throws {
        try expectToComeBack(Dog(name: "Rex", tricks: ["roll", "sit"]))
        try expectToComeBack(Cat(name: "Tom", lives: 9))
    }

    @Test func comeBackInCollections() throws {
        let point = GraphBody(points: [1, 2.5])
        try expectToComeBack([point, GraphBody(points: [])])
        try expectToComeBack(["a": [point], "b": []])
        try expectToComeBack([point, nil] as [GraphBody?])
        try expectToComeBack(Empty())
        try expectToComeBack([Chain(length: 3)])
    }

    @Test func thatAreNotANumberComeBackAsSuch() throws {
        struct Odd: StoredAsCodable { var double = Double.nan, single = Float.nan }
        let key: KeychainStorable<Odd> = "k"
        try key.write(Odd())
        let read = try #require(try key.read())
        #expect(read.double.isNaN && read.single.isNaN)
    }

    @Test func areStoredFieldByField() throws {
        let value = try StoredValue(encoding: Everything())
        guard case .dictionary(let fields) = value else { throw VaultError(.unreadable, "no dictionary") }
        let expected: [String: StoredValue] = [
            "flag": .boolean(true), "naturals": .array([.integer(0), .integer(Int128(UInt64.max))]),
            "wide": .integer(-5), "single": .real(Double(Float(0.1))), "data": .data(Data([0, 0xff])),
            "date": .date(Date(timeIntervalSinceReferenceDate: 0.1)), "url": .string("https://example.com/a?b#c"),
            "uuid": .string("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
            "holes": .array([.integer(1), .null, .integer(3)]),
            "byNumber": .dictionary(["1": .string("one"), "-2": .string("minus two")]),
            "byDate": .array([.date(Date(timeIntervalSinceReferenceDate: 5)), .string("five")]),
            "byName": .dictionary(["a": .array([.integer(1)]), "": .array([])]),
        ]
        for (key, value) in expected { #expect(fields[key] == value, "\(key)") }
        #expect(fields["missing"] == nil)
        #expect(fields.count == 23)
        #expect(try StoredValue(encoding: Empty()) == .dictionary([:]))
        #expect(
            try StoredValue(encoding: Dog(name: "Rex", tricks: []))
                == .dictionary(["tricks": .array([]), "super": .dictionary(["name": .string("Rex")])]))
        #expect(
            try StoredValue(encoding: Cat(name: "Tom", lives: 9))
                == .dictionary(["name": .string("Tom"), "lives": .integer(9)]))
    }

    @Test func thatEncodeNothingAreEmptyDictionaries() throws {
        struct Silent: Encodable { func encode(to encoder: any Encoder) throws {} }
        #expect(try StoredValue(encoding: Silent()) == .dictionary([:]))
        #expect(try StoredValue(encoding: [Silent()]) == .array([.dictionary([:])]))
    }

    @Test func withKeysOfTheirOwnKindAreDictionaries() throws {
        enum Side: String, Codable, CodingKeyRepresentable { case left, right }
        #expect(try StoredValue(encoding: [Side.left: 1]) == .dictionary(["left": .integer(1)]))
        #expect(try StoredValue.dictionary(["right": .integer(2)]).decoded(as: [Side: Int].self) == [.right: 2])
    }

    @Test func knowTheirPathWhileTheyAreCoded() throws {
        struct Path: Codable, Equatable {
            var keys: [String]

            init() { keys = [] }
            init(from decoder: any Decoder) throws { keys = decoder.codingPath.map(\.stringValue) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                for key in encoder.codingPath { try container.encode(key.stringValue) }
            }
        }
        struct Outer: Codable { var list = [["k": Path()]] }
        let keys = ["list", "Index 0", "k"]
        let value = try StoredValue(encoding: Outer())
        #expect(value == .dictionary(["list": .array([.dictionary(["k": .array(keys.map { .string($0) })])])]))
        #expect(try value.decoded(as: Outer.self).list[0]["k"]?.keys == keys)
    }

    @Test func nestAsDeepAsEachStoreCanHold() throws {
        try expectToComeBack(Chain(length: 511))
    }
}
