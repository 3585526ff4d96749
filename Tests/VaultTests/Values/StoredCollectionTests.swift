import Foundation
import TestSupport
import Testing
import Vault
import VaultTesting

private enum Side: String, StoredObject, DictionaryKey, Codable { case left, right }
private enum Floor: Int8, DictionaryKey {
    case cellar = -1
    case ground, first
}

/// Sets, ranges, numbers with decimal digits, and dictionaries with keys of a type.
@Suite("Sets, ranges, decimals and typed keys", .temporaryStores)
struct StoredCollectionTests {
    private static let homes: [TestedHome] = [.keychain, .preferences, .memory]

    private func expectKept<Value: StoredObject & Equatable>(_ values: [Value], in home: TestedHome) throws {
        let key = Storable<Value>("k", in: home.reference)
        for value in values {
            try key.write(value)
            #expect(try key.read() == value)
        }
    }

    private func failure<Value: StoredObject>(reading value: StoredValue, as type: Value.Type) throws -> VaultError? {
        let store = MemoryStore.standard
        #expect(store.commit(StoreBatch(["k": value])))
        return #expect(throws: VaultError.self) { try Storable<Value>("k", in: .memory).read() }
    }

    @Test(arguments: homes) func comeBack(_ home: TestedHome) throws {
        try expectKept([Set<Int>(), [1], [3, 20, 100, -1]], in: home)
        try expectKept([["b", "a"], [""]] as [Set<String>], in: home)
        try expectKept([[.left, .right]] as [Set<Side>], in: home)
        try expectKept([[1, nil]] as [Set<Int?>], in: home)
        try expectKept([[[1, 2], [3]], []] as [Set<Set<Int>>], in: home)
        try expectKept([1..<5, 5..<5, Int.min..<Int.max], in: home)
        try expectKept([0.5..<0.75, -Double.infinity..<Double.infinity], in: home)
        let epoch = Date(timeIntervalSince1970: 0)
        try expectKept([epoch..<epoch.addingTimeInterval(0.5)], in: home)
        try expectKept([epoch...epoch, epoch...Date.distantFuture], in: home)
        try expectKept([0...0, -3...UInt8.max.asInt], in: home)
        try expectKept([[1...2, 4...4]], in: home)
        try expectKept([["a": 1...2]], in: home)
    }

    @Test(arguments: homes) func dictionariesWithTypedKeysComeBack(_ home: TestedHome) throws {
        try expectKept([[Int: String](), [1: "one", -20: "minus twenty", .max: "", .min: ""]], in: home)
        try expectKept([[UInt64.max: [true]]], in: home)
        try expectKept([[Int128.max: 1, .min: 2]], in: home)
        try expectKept([[Side.left: 1, .right: 2]], in: home)
        try expectKept([[Floor.cellar: "wine", .ground: "door"]], in: home)
        try expectKept([[UUID(): [Side.left: Set([1, 2])]]], in: home)
        try expectKept([["a": [1: ["b": nil]]]] as [[String: [Int: [String: Date?]]]], in: home)
    }

    @Test(arguments: homes) func theirStoredFormIsAnArrayOrADictionary(_ home: TestedHome) throws {
        func stored<Value: StoredObject>(_ value: Value) throws -> StoredValue? {
            try Storable<Value>("k", in: home.reference).write(value)
            return try home.store.value(of: "k")
        }
        #expect(try stored([3, 20, 100] as Set) == .array([.integer(100), .integer(20), .integer(3)]))
        #expect(try stored(1..<5) == .array([.integer(1), .integer(5)]))
        #expect(try stored(1...5) == .array([.integer(1), .integer(5)]))
        #expect(try stored([-7: "x"]) == .dictionary(["-7": .string("x")]))
        #expect(try stored([Side.left: true]) == .dictionary(["left": .boolean(true)]))
        #expect(try stored([Floor.cellar: true]) == .dictionary(["-1": .boolean(true)]))
        #expect(try stored(["é": 1, "": 2]) == .dictionary(["é": .integer(1), "": .integer(2)]))
    }

    @Test func equalSetsAreStoredEqually() throws {
        struct Tagged: StoredAsCodable {
            var tags: Set<String>
            var bySide: [Side: Int]
        }
        for seed in 0..<50 {
            var generator = SeededGenerator(seed)
            let words = (0..<20).map { _ in String(generator.next() % 1_000) }
            // Sets of several capacities list equal elements in several orders.
            var small = Set(words)
            var large = Set<String>(minimumCapacity: 1_000)
            for word in words.shuffled(using: &generator) { large.insert(word) }
            #expect(small.toPrimitive() == large.toPrimitive())
            let values = [small, large].map { Tagged(tags: $0, bySide: [.left: 1, .right: 2]).toPrimitive() }
            #expect(values[0] == values[1])
            small.insert("one more")
            #expect(small.toPrimitive() != large.toPrimitive())
        }
    }

    // MARK: - What does not fit

    @Test func whatIsTwiceInOneIsUnreadable() throws {
        let set = try failure(reading: .array([.integer(1), .integer(2), .integer(1)]), as: Set<Int>.self)
        #expect(set?.code == .unreadable)
        #expect(
            set?.message
                == "The value of \"k\" is an array, but Set<Int> cannot be created from it. It was left alone.")
        let ids = ["E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"]
        let keys = StoredValue.dictionary(Dictionary(uniqueKeysWithValues: ids.map { ($0, .integer(1)) }))
        #expect(try failure(reading: keys, as: [UUID: Int].self)?.code == .unreadable)
        #expect(try failure(reading: .array(ids.map { .string($0) }), as: Set<UUID>.self)?.code == .unreadable)
    }

    @Test(
        arguments: [
            [.integer(2), .integer(1)], [.integer(1)], [.integer(1), .integer(2), .integer(3)], [],
        ] as [[StoredValue]])
    func boundsThatAreNoRangeAreUnreadable(_ bounds: [StoredValue]) throws {
        #expect(try failure(reading: .array(bounds), as: Range<Int>.self)?.code == .unreadable)
        #expect(try failure(reading: .array(bounds), as: ClosedRange<Int>.self)?.code == .unreadable)
        struct Codes: StoredAsCodable { var range: Range<Int>, closed: ClosedRange<Int> }
        let fields: [String: StoredValue] = ["range": .array(bounds), "closed": .array([.integer(1), .integer(1)])]
        if bounds.count < 3 { #expect(try failure(reading: .dictionary(fields), as: Codes.self)?.code == .unreadable) }
        let list = StoredValue.array([.array([.integer(1), .integer(2)]), .array(bounds)])
        #expect(try failure(reading: list, as: [Range<Int>].self)?.message.contains("(at 1: its type rejects") == true)
    }

    @Test func boundsThatAreNotANumberAreUnreadable() throws {
        #expect(try failure(reading: .array([.real(.nan), .real(1)]), as: Range<Double>.self)?.code == .unreadable)
        #expect(try failure(reading: .array([.real(.nan), .real(.nan)]), as: ClosedRange<Float>.self) != nil)
    }

    @Test(arguments: ["", "x", "07", "+7", " 7", "7.0", "256", "\u{667}"])
    func textsThatAreNoKeyAreUnreadable(_ text: String) throws {
        let error = try failure(reading: .dictionary([text: .integer(1)]), as: [UInt8: Int].self)
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains("Dictionary<UInt8, Int>") == true)
        #expect(try failure(reading: .dictionary([text: .integer(1)]), as: [Side: Int].self)?.code == .unreadable)
    }

    @Test func errorsSayWhereTheyAre() throws {
        let mixed: [StoredValue] = [.integer(1), .string("canary")]
        for error in [
            try failure(reading: .array(mixed), as: Set<Int>.self),
            try failure(reading: .array(mixed), as: Range<Int>.self),
            try failure(reading: .array(mixed), as: ClosedRange<Int>.self),
        ] {
            #expect(error?.code == .unreadable)
            #expect(error?.message.contains("(at 1: expected an integer, found a string)") == true)
        }
        let keyed = try failure(reading: .dictionary(["7": .array(mixed)]), as: [Int: Set<Int>].self)
        #expect(keyed?.message.contains("(at *.1: expected an integer, found a string)") == true)
        #expect(try failure(reading: .integer(1), as: Set<Int>.self)?.code == .wrongType)
        #expect(try failure(reading: .array([]), as: [Int: Int].self)?.code == .wrongType)
    }

    @Test func elementsAndKeysThatCannotBeToldApartAreRefused() throws {
        struct Blurred: StoredObject, DictionaryKey {
            var name: String
            func toPrimitive() -> String? { name == "refused" ? nil : "one" }
            static func from(primitive: String) -> Blurred? { Blurred(name: primitive) }
            static func text(of key: Blurred) -> String { "one" }
            static func key(of text: String) -> Blurred? { Blurred(name: text) }
        }
        let a = Blurred(name: "a")
        let b = Blurred(name: "b")
        #expect(try VaultError.code { try RAMStorable<Set<Blurred>>("k").write([a, b]) } == .invalid)
        #expect(try VaultError.code { try RAMStorable<[Blurred: Int]>("k").write([a: 1, b: 2]) } == .invalid)
        let error = #expect(throws: VaultError.self) {
            try RAMStorable<Set<Blurred>>("k").write([Blurred(name: "refused")])
        }
        #expect(error?.message.hasSuffix("cannot be stored: at *: its type rejects it.") == true)
    }
}

extension UInt8 { fileprivate var asInt: Int { Int(self) } }

@Suite("Decimals", .temporaryStores)
struct StoredDecimalTests {
    private static let extremes: [Decimal] = [
        0, 1, -1, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi,
        Decimal(sign: .minus, exponent: -128, significand: 1), Decimal(sign: .plus, exponent: 127, significand: 7),
        Decimal(sign: .plus, exponent: -2, significand: 150), Decimal(sign: .plus, exponent: 3, significand: 5),
    ]

    @Test(arguments: [TestedHome.keychain, .preferences, .memory]) func comeBackExactly(_ home: TestedHome) throws {
        let key = Storable<[Decimal]>("k", in: home.reference)
        var generator = SeededGenerator(7)
        let random = (0..<2_000).map { _ in
            Decimal(
                sign: generator.next() % 2 == 0 ? .plus : .minus,
                exponent: Int.random(in: -128...88, using: &generator),
                significand: Decimal(generator.next()) * Decimal(generator.next()))
        }.filter { !$0.isNaN }
        #expect(random.count > 1_000)
        try key.write(StoredDecimalTests.extremes + random)
        #expect(try key.read() == StoredDecimalTests.extremes + random)
        let nan = Storable<Decimal>("nan", in: home.reference)
        try nan.write(.nan)
        #expect(try nan.read()?.isNaN == true)
    }

    @Test func areTextInOneForm() throws {
        let store = MemoryStore.standard
        for (number, text) in [
            (Decimal(sign: .plus, exponent: -2, significand: 150), "1.5"), (Decimal(-12.5), "-12.5"), (5_000, "5000"),
            (Decimal(sign: .minus, exponent: -3, significand: 1), "-0.001"), (.nan, "NaN"), (0, "0"),
        ] as [(Decimal, String)] {
            try RAMStorable<Decimal>("k").write(number)
            #expect(store.value(of: "k") == .string(text))
        }
        // In a type's field, too.
        struct Price: StoredAsCodable, Equatable { var amount: Decimal }
        try KeychainStorable<Price>("p").write(Price(amount: Decimal(1.25)))
        #expect(try Keychain.standard.value(of: "p") == .dictionary(["amount": .string("1.25")]))
        #expect(try KeychainStorable<Price>("p").read() == Price(amount: Decimal(1.25)))
    }

    @Test(arguments: [("1.50", "1.5"), ("2.0", "2"), ("100", "100"), ("-0.10", "-0.1")])
    func zerosThatOthersWriteAtTheEndAreRead(_ text: String, _ number: String) throws {
        try RAMStorable<String>("k").write(text)
        #expect(try RAMStorable<Decimal>("k").read() == Decimal(string: number))
    }

    @Test(
        arguments: [
            "", "x", "1,5", "12 EUR", " 1", "1 ", "1e3", "1_000", "0x10", "\u{661}", "--1", "1.2.3", "nan", ".",
            "1e400",
            String(repeating: "9", count: 60), "0." + String(repeating: "123", count: 20),
        ])
    func textThatIsNoNumberOrTooLongIsUnreadable(_ text: String) throws {
        try RAMStorable<String>("k").write(text)
        let error = #expect(throws: VaultError.self) { try RAMStorable<Decimal>("k").read() }
        #expect(error?.code == .unreadable)
    }
}
