import Foundation
import TestSupport
import Testing
import VaultTesting

@testable import PlainStores
@testable import Vault

@Suite("Errors of Codable values", .temporaryStores)
struct CodableErrorTests {
    private static let canary = "canary-51c0"
    private struct Profile: StoredAsCodable, Equatable {
        enum Mode: String, Codable { case light, dark }
        struct Account: Codable, Equatable { var age: UInt8 }

        var name = "n"
        var mode = Mode.light
        var points = [Everything.Point(x: 1, y: nil)]
        var users = ["u": Account(age: 1)]
        var id: UUID?
    }

    private static let stored: [String: StoredValue] = [
        "name": .string(canary), "mode": .string("dark"), "points": .array([.dictionary(["x": .real(1)])]),
        "users": .dictionary([canary: .dictionary(["age": .integer(3)])]),
    ]

    private func failure<Value: StoredObject>(reading value: StoredValue, as type: Value.Type) throws -> VaultError {
        var errors: [VaultError] = []
        for store in [try Keychain.standard, MemoryStore.standard] as [any ValueStore] {
            #expect(try store.commit(StoreBatch(["k": value])))
            do throws(VaultError) {
                _ = try Storable<Value>("k", in: .store(store)).read()
                Issue.record("no error")
            } catch { errors.append(error) }
            #expect(try store.value(of: "k") == value)
        }
        #expect(Set(errors).count == 1)
        #expect(errors.allSatisfy { !$0.message.contains(CodableErrorTests.canary) })
        return try #require(errors.first)
    }

    @Test(
        arguments: [
            (
                ["points": .array([.dictionary(["x": .real(0)]), .dictionary(["x": .string(canary)])])],
                "at points.1.x: expected a real number, found a string"
            ),
            (["points": .dictionary([canary: .null])], "at points: expected an array, found a dictionary"),
            (["points": .array([.dictionary(["y": .real(0)])])], "at points.0: the field x is missing"),
            (
                ["points": .array([.dictionary(["x": .real(0), "y": .real(1e300)])])],
                "at points.0.y: a real number out of bounds"
            ),
            (["points": .null], "at points: expected an array, found nothing"),
            (["name": .null], "at name: expected a string, found nothing"),
            (["name": .integer(1)], "at name: expected a string, found an integer"),
            (["mode": .string(canary)], "at mode: its type rejects it"),
            (["id": .string(canary)], "at id: a string out of bounds"),
            (
                ["users": .dictionary([canary: .dictionary(["age": .integer(256)])])],
                "at users.*.age: an integer out of bounds"
            ),
            (
                ["users": .dictionary([canary: .dictionary(["age": .real(1)])])],
                "at users.*.age: expected an integer, found a real number"
            ),
            (
                ["users": .dictionary([canary: .dictionary([canary: .integer(3)])])],
                "at users.*: the field age is missing"
            ),
        ] as [([String: StoredValue], String)])
    func sayWhereTheyAreAndNameBothTypes(_ change: [String: StoredValue], _ text: String) throws {
        let value = CodableErrorTests.stored.merging(change) { $1 }
        #expect(try StoredValue.dictionary(CodableErrorTests.stored).decoded(as: Profile.self).mode == .dark)
        let error = try failure(reading: .dictionary(value), as: Profile.self)
        #expect(error.code == .unreadable)
        #expect(error.message == "The value of \"k\" cannot be read as Profile (\(text)). It was left alone.")
        // The same within collections of the type.
        let nested = try failure(
            reading: .dictionary([CodableErrorTests.canary: .array([.null, .dictionary(value)])]),
            as: [String: [Profile?]].self)
        #expect(nested.message.contains(text.replacing("at ", with: "at *.1.")))
    }

    @Test func nameAMissingField() throws {
        var value = CodableErrorTests.stored
        value["mode"] = nil
        let error = try failure(reading: .dictionary(value), as: Profile.self)
        #expect(error.code == .unreadable)
        #expect(
            error.message
                == "The value of \"k\" cannot be read as Profile (the field mode is missing). It was left alone.")
    }

    @Test func ofASuperclassAndOfByHandSayWhereTheyAre() throws {
        let dog = try failure(reading: .dictionary(["tricks": .array([])]), as: Dog.self)
        #expect(dog.message.contains("(at super: expected a dictionary, found nothing)"))
        let byHand = try failure(reading: .dictionary(["list": .array([.null, .null])]), as: ByHand.self)
        #expect(byHand.message.contains("(at list.2: its type rejects it)"))
        let short = try failure(reading: .dictionary(["list": .array([.null])]), as: ByHand.self)
        #expect(short.message.contains("(at list.1: expected an element, found the end of the array)"))
    }

    @Test func ofAWholeValueNameBothTypes() throws {
        let error = try failure(reading: .string(CodableErrorTests.canary), as: Profile.self)
        #expect(error.code == .wrongType)
        #expect(error.message == "The value of \"k\" is a string, so it cannot be read as a dictionary (Profile).")
        let list = try failure(reading: .array([.integer(1), .string(CodableErrorTests.canary)]), as: [Int].self)
        #expect(list.code == .unreadable)
        #expect(list.message.contains("(at 1: expected an integer, found a string)"))
    }

    @Test func showNoKeyThatIsData() throws {
        struct AnyKey: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Loose: StoredAsCodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: AnyKey.self)
                for key in container.allKeys { _ = try container.decode(Int.self, forKey: key) }
                _ = try container.decode(Int.self, forKey: AnyKey(stringValue: CodableErrorTests.canary))
            }
            func encode(to encoder: any Encoder) throws {}
        }
        let value = StoredValue.dictionary([CodableErrorTests.canary: .null])
        #expect(try failure(reading: value, as: Loose.self).message.contains("at *: expected an integer"))
        #expect(try failure(reading: .dictionary([:]), as: Loose.self).message.contains("the field * is missing"))
    }

    @Test func thatATypeThrowsItselfAreNotQuoted() throws {
        struct Talkative: StoredAsCodable {
            struct Refusal: Error { let text = CodableErrorTests.canary }
            init() {}
            init(from decoder: any Decoder) throws { throw Refusal() }
            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        let error = try failure(reading: .string(CodableErrorTests.canary), as: Talkative.self)
        #expect(error.code == .unreadable)
        #expect(
            error.message
                == "The value of \"k\" is a string, but Talkative cannot be created from it. It was left alone.")
        let key: KeychainStorable<[Talkative]> = "k"
        do throws(VaultError) {
            try key.write([Talkative()])
            Issue.record("no error")
        } catch {
            #expect(error.code == .invalid)
            #expect(error.message == "This Array<Talkative> for \"k\" cannot be stored: at 0: its type rejects it.")
        }
    }

    @Test func refuseIntegersThatNoStoreKeeps() throws {
        struct Wide: StoredAsCodable { var list: [Int128] }
        for number in [Int128(UInt64.max) + 1, Int128(Int64.min) - 1, .max, .min] {
            let key: RAMStorable<Wide> = "k"
            do throws(VaultError) {
                try key.write(Wide(list: [0, number]))
                Issue.record("no error")
            } catch {
                #expect(error.message == "This Wide for \"k\" cannot be stored: at list.1: an integer out of bounds.")
            }
        }
    }

    @Test(arguments: [512, 600, 20_000])
    func refuseWhatIsNestedTooDeeply(_ length: Int) throws {
        let key: RAMStorable<Chain> = "k"
        do throws(VaultError) {
            try key.write(Chain(length: length))
            Issue.record("no error")
        } catch {
            #expect(error.code == .invalid)
            #expect(error.message.hasSuffix("next.next: nested more than 512 levels deep."))
        }
        let wrapping: RAMStorable<Wrapping> = "w"
        #expect(try VaultError.code { try wrapping.write(Wrapping(depth: length)) } == .invalid)
    }

    @Test func refuseToReadWhatIsNestedTooDeeply() throws {
        let store = MemoryStore.standard
        let deep = (0..<600).reduce(StoredValue.null) { value, _ in .dictionary(["next": value]) }
        #expect(store.commit(StoreBatch(["k": deep, "w": .integer(1)])))
        let key: RAMStorable<Chain> = "k"
        #expect(try VaultError.code { _ = try key.read() } == .unreadable)
        // Its decoding has no end.
        let wrapping: RAMStorable<Wrapping> = "w"
        #expect(try VaultError.code { _ = try wrapping.read() } == .unreadable)
    }

    @Test func areThrownForContainersWithoutEndOrOfTwoForms() throws {
        struct Endless: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                for _ in 0..<100_000 { container = container.nestedUnkeyedContainer() }
            }
        }
        struct TwoForms: Encodable {
            let form: Int
            func encode(to encoder: any Encoder) throws {
                var keyed = encoder.container(keyedBy: UndeclaredKey.self)
                switch form {
                case 0: _ = encoder.unkeyedContainer()
                case 1:
                    var single = encoder.singleValueContainer()
                    try single.encode(1)
                default:
                    var inner = keyed.nestedUnkeyedContainer(forKey: .superclass)
                    try inner.encode(1)
                    _ = keyed.nestedContainer(keyedBy: UndeclaredKey.self, forKey: .superclass)
                }
            }
        }
        #expect(throws: EncodingError.self) { try StoredValue(encoding: Endless()) }
        for form in 0..<3 {
            #expect(throws: EncodingError.self) { try StoredValue(encoding: [TwoForms(form: form)]) }
        }
    }
}
