import Foundation
import TestSupport
import Testing

@testable import PlainStores

@Suite("Stored values as bytes")
struct StoredValueCodingTests {
    private func decoded(_ kind: StoredKind, _ bytes: [UInt8]) -> StoredValue? {
        bytes.withUnsafeBytes { StoredValue(kind: kind.rawValue, $0) }
    }

    @Test(arguments: 0..<200)
    func comeBackExactly(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        let value = StoredValue.random(depth: 5, &generator)
        let (kind, bytes) = try value.encoded(for: "k")
        #expect(decoded(kind, bytes) == value)
        // The same value has the same bytes, in whatever order a dictionary lists its keys.
        if case .dictionary(let fields) = value {
            let again = Dictionary(fields.map { ($0, $1) }.reversed()) { $1 }
            #expect(try StoredValue.dictionary(again).encoded(for: "k").1 == bytes)
        }
    }

    @Test(arguments: 0..<100) func asPublicBytesComeBackExactly(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        let value = StoredValue.random(depth: 5, &generator)
        let bytes = try value.bytes
        #expect(StoredValue(bytes: bytes) == value)
        #expect(StoredValue(bytes: Data(bytes)) == value)
        #expect(try bytes == [value.encoded(for: "k").0.rawValue] + value.encoded(for: "k").1)
        for end in 0..<min(bytes.count, 200) { _ = StoredValue(bytes: bytes[..<end]) }
        for _ in 0..<100 { _ = StoredValue(bytes: generator.bytes(Int.random(in: 0...40, using: &generator))) }
    }

    @Test func eachCaseHasPublicBytes() throws {
        let values: [(StoredValue, [UInt8])] = [
            (.untyped(Data([7])), [0, 7]), (.string("ab"), [1, 0x61, 0x62]), (.data(Data([7])), [2, 7]),
            (.boolean(true), [3] + "true".utf8), (.integer(-5), [4] + "-5".utf8), (.real(1), [5] + "1.0".utf8),
            (.date(Date(timeIntervalSinceReferenceDate: 0.5)), [6] + "0.5".utf8),
            (.array([.null, .string("a")]), [7, 9, 0, 1, 1, 0x61]),
            (.dictionary(["b": .null, "a": .string("x")]), [8, 1, 0x61, 1, 1, 0x78, 1, 0x62, 9, 0]), (.null, [9]),
        ]
        for (value, bytes) in values {
            #expect(try value.bytes == bytes)
            #expect(StoredValue(bytes: bytes) == value)
        }
        #expect(StoredValue(bytes: []) == nil)
        for unknown in UInt8(10)...255 { #expect(StoredValue(bytes: [unknown]) == nil) }
    }

    @Test func whatNoStoreTakesHasNoPublicBytes() throws {
        let deep = (0..<512).reduce(StoredValue.null) { value, _ in .array([value]) }
        for value in [deep, .integer(.max), .array([.integer(.min)])] {
            let error = #expect(throws: VaultError.self) { try value.bytes }
            #expect(error?.code == .invalid)
        }
    }

    @Test func areAnotherValueWithAnotherSpellingOfAKey() throws {
        let composed = "\u{e9}"
        let decomposed = "e\u{301}"
        let values = [composed, decomposed].map { StoredValue.dictionary([$0: .integer(1)]) }
        #expect(values[0] != values[1])
        #expect(values[0] == .dictionary([composed: .integer(1)]))
        #expect(try values[0].encoded(for: "k").1 != values[1].encoded(for: "k").1)
    }

    @Test(arguments: 0..<60)
    func whateverTheBytesAreGiveAValueOrNone(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        let (kind, bytes) = try StoredValue.random(depth: 4, &generator).encoded(for: "k")
        for end in 0..<min(bytes.count, 400) { _ = decoded(kind, Array(bytes[..<end])) }
        for _ in 0..<200 {
            var changed = bytes
            if !changed.isEmpty {
                changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            for kind in [kind, .array, .dictionary] {
                // What is read can be written.
                if let value = decoded(kind, changed) { _ = try value.encoded(for: "k") }
            }
        }
        for kind in StoredKind.allCases {
            _ = decoded(kind, generator.bytes(Int.random(in: 0...40, using: &generator)))
        }
    }

    @Test func truncatedCollectionsAreNone() throws {
        let value = StoredValue.array([.string("abc"), .dictionary(["k": .integer(5)])])
        let (kind, bytes) = try value.encoded(for: "k")
        let whole: Set = [0, 5, bytes.count]
        for end in 0...bytes.count { #expect((decoded(kind, Array(bytes[..<end])) != nil) == whole.contains(end)) }
    }

    @Test func lengthsThatLieAreNone() {
        for length in [[0x7f], [0xff, 0xff, 0xff, 0xff, 0x7f], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]] as [[UInt8]] {
            #expect(decoded(.array, [StoredKind.text.rawValue] + length) == nil)
            #expect(decoded(.dictionary, length + [0]) == nil)
        }
        // A key twice.
        #expect(decoded(.dictionary, [1, 0x61, 9, 0, 1, 0x61, 9, 0]) == nil)
    }

    @Test func integersThatNoTypeHoldsAreRefused() throws {
        let bounds = [Int128(Int64.min), Int128(UInt64.max)]
        for bound in bounds {
            let (kind, bytes) = try StoredValue.integer(bound).encoded(for: "k")
            #expect(decoded(kind, bytes) == .integer(bound))
        }
        for beyond in [bounds[0] - 1, bounds[1] + 1, .min, .max] {
            #expect(decoded(.integer, Array(beyond.description.utf8)) == nil)
            #expect(try VaultError.code { _ = try StoredValue.array([.integer(beyond)]).encoded(for: "k") } == .invalid)
        }
    }

    @Test(arguments: ["", "yes", "1.5", "0x10", " 1", "1 ", "\u{661}"])
    func textThatIsNoneOfItsKindIsNone(_ text: String) {
        for kind in [StoredKind.boolean, .integer] { #expect(decoded(kind, Array(text.utf8)) == nil) }
        #expect(decoded(.real, [0xff]) == nil && decoded(.text, [0xff]) == nil)
        #expect(decoded(.date, Array("yes".utf8)) == nil)
    }

    @Test func numbersKeepTheirSignAndTheirNature() throws {
        for number in [
            Double.nan, -0.0, 0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
        ] {
            for value in [StoredValue.real(number), .date(Date(timeIntervalSinceReferenceDate: number))] {
                let (kind, bytes) = try value.encoded(for: "k")
                #expect(decoded(kind, bytes) == value)
            }
        }
    }

    @Test func theDeepestThatIsWrittenIsTheDeepestThatIsRead() throws {
        let deepest = (0..<511).reduce(StoredValue.integer(1)) { value, _ in .array([value]) }
        let (kind, bytes) = try deepest.encoded(for: "k")
        #expect(decoded(kind, bytes) == deepest)
        #expect(try VaultError.code { _ = try StoredValue.array([deepest]).encoded(for: "k") } == .invalid)
        #expect(
            decoded(.array, [kind.rawValue, UInt8(bytes.count & 0x7f) | 0x80, UInt8(bytes.count >> 7)] + bytes) == nil)
    }
}

extension StoredValue {
    fileprivate static func random(depth: Int, _ generator: inout SeededGenerator) -> StoredValue {
        let count = Int.random(in: 0...4, using: &generator)
        switch Int.random(in: 0...(depth > 0 ? 11 : 7), using: &generator) {
        case 0: return .null
        case 1: return .boolean(.random(using: &generator))
        case 2:
            let edges = [Int128(Int64.min), Int128(UInt64.max), 0, -1]
            return .integer(count < 4 ? edges[count] : Int128(Int64.random(in: .min ... .max, using: &generator)))
        case 3: return .real(number(&generator))
        case 4: return .string(text(count, &generator))
        case 5: return .data(Data(generator.bytes(count * 50)))
        case 6: return .date(Date(timeIntervalSinceReferenceDate: number(&generator)))
        case 7: return .untyped(Data(generator.bytes(count)))
        case 8, 9: return .array((0..<count).map { _ in random(depth: depth - 1, &generator) })
        default:
            let fields = (0..<count).map { _ in (text(3, &generator), random(depth: depth - 1, &generator)) }
            return .dictionary(Dictionary(fields) { $1 })
        }
    }

    /// NaNs have one form in a store.
    private static func number(_ generator: inout SeededGenerator) -> Double {
        let number = Double(bitPattern: generator.next())
        return number.isNaN ? .nan : number
    }

    private static func text(_ count: Int, _ generator: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<count {
            text.append(Unicode.Scalar(UInt32.random(in: 0...0xd7ff, using: &generator)) ?? " ")
        }
        return String(text)
    }
}
