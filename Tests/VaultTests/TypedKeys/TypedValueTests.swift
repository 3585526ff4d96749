import Foundation
import TestSupport
import Testing
import Vault
import VaultTesting

/// What each kind of store returns for each type.
@Suite("Typed values", .temporaryStores)
struct TypedValueTests {
    enum Theme: String, StoredObject { case light, dark }
    enum Level: Int, StoredObject, Codable {
        case low = 1
        case high = 2
    }
    struct Angle: StoredObject, Equatable {
        var degrees: Double
        func toPrimitive() -> Double? { degrees.isNaN ? nil : degrees }
        static func from(primitive: Double) -> Angle? { primitive < 360 ? Angle(degrees: primitive) : nil }
    }

    static let homes: [TestedHome] = [.keychain, .preferences, .memory]

    private func expectKept<Value: StoredObject & Equatable>(_ values: [Value], in home: TestedHome) throws {
        let key = Storable<Value>("k", in: home.reference)
        for value in values {
            try key.write(value)
            #expect(try key.read() == value)
            #expect(try key.exists())
            try key.remove()
            #expect(try key.read() == nil)
        }
    }

    @Test(arguments: homes) func primitivesComeBack(_ home: TestedHome) throws {
        try expectKept([true, false], in: home)
        try expectKept([Int.min, -1, 0, 1, .max], in: home)
        try expectKept([Int8.min, .max], in: home)
        try expectKept([Int16.min, .max], in: home)
        try expectKept([Int32.min, .max], in: home)
        try expectKept([Int64.min, .max], in: home)
        try expectKept([UInt.min, .max], in: home)
        try expectKept([UInt8.min, .max], in: home)
        try expectKept([UInt16.min, .max], in: home)
        try expectKept([UInt32.min, .max], in: home)
        try expectKept([UInt64.min, .max], in: home)
        try expectKept([Float(0), 0.1, -1e38, .leastNonzeroMagnitude], in: home)
        try expectKept([0.0, 1.0, 0.1, -1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude], in: home)
        try expectKept(["", "a", "é", "👩‍👩‍👧‍👦", "line\nline", " spaces "], in: home)
        try expectKept([Data(), Data([0, 255]), Data("text".utf8)], in: home)
        try expectKept([Date(timeIntervalSince1970: 0.5), .distantPast, .distantFuture, .now], in: home)
        try expectKept([URL(string: "https://example.org/a?b=c#d")], in: home)
        try expectKept([UUID(), UUID()], in: home)
    }

    @Test(arguments: homes) func collectionsComeBack(_ home: TestedHome) throws {
        try expectKept([[Int](), [1], [3, 2, 1]], in: home)
        try expectKept([[[String]](), [[], ["a"], ["", "b"]]], in: home)
        try expectKept([[String: Int](), ["a": 1, "": 2, "a.b": 3]], in: home)
        try expectKept([["a": [UUID()]], [:]], in: home)
        try expectKept([[1, nil, 3], [nil]] as [[Int?]], in: home)
        try expectKept([["a": nil, "b": Data([1])]] as [[String: Data?]], in: home)
    }

    @Test(arguments: homes) func enumsAndTypesOfOnesOwnComeBack(_ home: TestedHome) throws {
        try expectKept([Theme.light, .dark], in: home)
        try expectKept([Level.low, .high], in: home)
        try expectKept([[Theme.light, .dark]], in: home)
        try expectKept([["a": Level.high]], in: home)
        try expectKept([Angle(degrees: 0.1), Angle(degrees: -720)], in: home)
        #expect(try home.store.commit(StoreBatch(["k": .string("sepia")])))
        let error = try #require(throws: VaultError.self) { try Storable<Theme>("k", in: home.reference).read() }
        #expect(error.code == .unreadable)
    }

    @Test(arguments: homes) func realNumbersKeepTheirBits(_ home: TestedHome) throws {
        let key = Storable<Double>("k", in: home.reference)
        for number in [-0.0, .infinity, -.infinity, .leastNonzeroMagnitude, 0.1 + 0.2] as [Double] {
            try key.write(number)
            #expect(try key.read()?.bitPattern == number.bitPattern)
        }
        try key.write(.nan)
        #expect(try key.read()?.isNaN == true)
        let float = Storable<Float>("k", in: home.reference)
        #expect(try float.read()?.isNaN == true)
    }

    @Test(arguments: homes) func anEmptyStringIsAValueAndNilRemoves(_ home: TestedHome) throws {
        var text = RAMStorable<String>("k", in: .store(try home.store)).defaulting(to: "default")
        #expect(text.value == "default")
        #expect(try !text.exists())
        text.value = ""
        #expect(text.value == "")
        #expect(try text.exists())
        try text.remove()
        #expect(text.value == "default")
        #expect(try !text.exists())
        #expect(try home.store.keys(prefix: "") == [])
    }

    @Test(arguments: homes) func anEmptyCollectionIsNoAbsence(_ home: TestedHome) throws {
        let array = Storable<[Int]>("a", in: home.reference).defaulting(to: [1])
        let dictionary = Storable<[String: Int]>("d", in: home.reference).defaulting(to: ["a": 1])
        try array.write([])
        try dictionary.write([:])
        #expect(try array.read() == [])
        #expect(try dictionary.read() == [:])
    }

    @Test(arguments: homes) func aKeyWrittenAsAStringIsNoInteger(_ home: TestedHome) throws {
        try Storable<String>("k", in: home.reference).write("42")
        let error = try #require(throws: VaultError.self) { try Storable<Int>("k", in: home.reference).read() }
        #expect(error.code == .wrongType)
        #expect(error.message == #"The value of "k" is a string, so it cannot be read as an integer (Int)."#)
        #expect(try Storable<String>("k", in: home.reference).read() == "42")
    }

    @Test(arguments: homes) func eachTypeIsToldFromTheOthers(_ home: TestedHome) throws {
        let written: [(StoredValue, fits: String)] = [
            (.boolean(true), "Bool"), (.integer(1), "Int Double"), (.real(1.5), "Double"), (.string("x"), "String"),
            (.data(Data([1])), "Data"), (.date(Date(timeIntervalSince1970: 1)), "Date"), (.array([]), "Array"),
            (.dictionary(["a": .integer(1)]), "Dictionary"),
        ]
        func fits<Value: StoredObject>(_ type: Value.Type) throws -> Bool {
            do { return try Storable<Value>("k", in: home.reference).read() != nil } catch {
                #expect(error.code == .wrongType)
                #expect(error.message.contains(String(describing: type)))
                return false
            }
        }
        for (value, expected) in written {
            _ = try home.store.commit(StoreBatch(["k": value]))
            var fitting: [String] = []
            if try fits(Bool.self) { fitting.append("Bool") }
            if try fits(Int.self) { fitting.append("Int") }
            if try fits(Double.self) { fitting.append("Double") }
            if try fits(String.self) { fitting.append("String") }
            if try fits(Data.self) { fitting.append("Data") }
            if try fits(Date.self) { fitting.append("Date") }
            if try fits([Int].self) { fitting.append("Array") }
            if try fits([String: Int].self) { fitting.append("Dictionary") }
            #expect(fitting.joined(separator: " ") == expected)
        }
    }

    @Test(arguments: homes) func aNumberOutOfBoundsIsUnreadableAndStays(_ home: TestedHome) throws {
        let wide = Storable<Int>("k", in: home.reference)
        for (number, isByte, isUnsigned) in [(256, false, true), (-1, false, false), (255, true, true)] {
            try wide.write(number)
            #expect(
                try VaultError.code { _ = try Storable<UInt8>("k", in: home.reference).read() }
                    == (isByte ? nil : .unreadable))
            #expect(
                try VaultError.code { _ = try Storable<UInt64>("k", in: home.reference).read() }
                    == (isUnsigned ? nil : .unreadable))
            #expect(try wide.read() == number)
        }
        try Storable<Double>("k", in: home.reference).write(1e300)
        #expect(try VaultError.code { _ = try Storable<Float>("k", in: home.reference).read() } == .unreadable)
        try Storable<[Int]>("k", in: home.reference).write([1, 1_000])
        #expect(try VaultError.code { _ = try Storable<[Int8]>("k", in: home.reference).read() } == .unreadable)
    }

    @Test(arguments: homes) func aRefusalIsAnErrorAndTheValueStays(_ home: TestedHome) throws {
        var key = KeychainStorable<Angle>("k", in: .store(try home.store))
        try key.write(Angle(degrees: 90))
        #expect(try VaultError.code { try key.write(Angle(degrees: .nan)) } == .invalid)
        #expect(try VaultError.code { try key.update { $0 = Angle(degrees: .nan) } } == .invalid)
        #expect(try key.read() == Angle(degrees: 90))

        let failures = try home.store.failures
        let seen = SeenFailures()
        failures.setHandler(seen.handler)
        key.value = Angle(degrees: .nan)
        #expect(seen.all.map(\.code) == [.invalid])
        #expect(key.value == Angle(degrees: 90))

        try key.write(Angle(degrees: 400))
        #expect(try VaultError.code { _ = try key.read() } == .unreadable)
        #expect(key.value == nil && seen.all.map(\.code) == [.invalid, .unreadable])
        #expect(try home.store.value(of: "k") == .real(400))
        #expect(try key.exists())
    }

    @Test func bytesOfTheCommandAreReadAsTextAndAsData() throws {
        try Keychain.standard.set("k", to: SecretBytes(utf8: "text"))
        #expect(try KeychainStorable<String>("k").read() == "text")
        #expect(try KeychainStorable<Data>("k").read() == Data("text".utf8))
        #expect(try VaultError.code { _ = try KeychainStorable<Int>("k").read() } == .wrongType)
    }

    @Test(arguments: ["", "a\n", "\0", String(repeating: "k", count: 1_025)]) func whatIsNoKeyIsInvalidInEachStore(
        _ name: String
    ) throws {
        for home in TypedValueTests.homes {
            let key = Storable<String>(name, in: home.reference).defaulting(to: "default")
            #expect(try VaultError.code { _ = try key.read() } == .invalid)
            #expect(try VaultError.code { try key.write("a") } == .invalid)
            #expect(try VaultError.code { try key.remove() } == .invalid)
            #expect(try VaultError.code { try key.update { $0 = "a" } } == .invalid)
            #expect(try VaultError.code { _ = try key.exists() } == .invalid)
        }
    }

    @Test(arguments: homes) func updatesThatThrowOrLackAValueChangeNothing(_ home: TestedHome) throws {
        let key = Storable<Int>("k", in: home.reference)
        #expect(throws: CancellationError.self) {
            try key.update { value throws(any Error) in
                value = 1
                throw CancellationError()
            }
        }
        #expect(try !key.exists())
        try key.update { $0 = ($0 ?? 10) + 1 }
        #expect(
            try key.update { value in
                defer { value = 5 }
                return value
            } == 11)
        #expect(try key.read() == 5)
        try key.update { $0 = nil }
        #expect(try !key.exists())
        let counted = Storable<Int>("c", in: home.reference).defaulting(to: 100)
        try counted.update { $0 += 1 }
        #expect(try counted.read() == 101)
    }

    @Test(arguments: homes) func scopesDoNotSeeEachOther(_ home: TestedHome) throws {
        let store = try home.store
        // Some would collide if they were only put before the key.
        let scopes = ["a", "a/b", "a%2Fb", "b", "", "a/"].map { store.scoped(to: $0) }
        for (number, scope) in scopes.enumerated() {
            for name in ["k", "b/k"] { try Storable<Int>(name, in: .store(scope)).write(number) }
        }
        for (number, scope) in scopes.enumerated() {
            for name in ["k", "b/k"] { #expect(try Storable<Int>(name, in: .store(scope)).read() == number) }
            #expect(try scope.keys(prefix: "") == ["b/k", "k"])
            #expect(try scope.keys(prefix: "b") == ["b/k"])
        }
        #expect(try store.keys(prefix: "").count == 2 * scopes.count)
        #expect(try Storable<Int>("k", in: home.reference).read() == nil)
        #expect(throws: VaultError.self) {
            try scopes[0].atomically { try $0.write(1, to: Storable<Int>("k", in: .store(scopes[1]))) }
        }
    }
}
