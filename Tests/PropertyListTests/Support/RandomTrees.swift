import FoundationEssentials
import PropertyList
import TestSupport

/// Trees with the values at which parsers and writers go wrong, the same for the same seed.
struct RandomTrees {
    private var generator: SeededGenerator

    init(seed: Int) {
        generator = SeededGenerator(seed)
    }

    private static let characters = Array(
        "aé\u{301}\u{85}\u{2028}\r\n\t \"'<>&]🔑\u{10FFFF}\u{FFFD}\u{7F}".unicodeScalars)
    private static let integers: [Int128] = [
        0, 1, -1, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, Int128(Int64.max), Int128(Int64.max) + 1,
        Int128(Int64.min), Int128(UInt64.max),
    ]
    private static let reals = [
        0, -0.0, 1, 0.1, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity,
    ]

    mutating func tree(depth: Int = 6) -> StoredValue {
        let count = Int.random(in: 0...5, using: &generator)
        switch Int.random(in: 0..<(depth == 0 ? 7 : 11), using: &generator) {
        case 0: return .boolean(Bool.random(using: &generator))
        case 1: return .integer(Self.integers.randomElement(using: &generator) ?? 0)
        case 2: return .real(Self.reals.randomElement(using: &generator) ?? 0)
        case 3: return .real(real())
        case 4: return .string(string())
        case 5: return .data(Data(generator.bytes(Int.random(in: 0...200, using: &generator))))
        case 6:
            let seconds = Int.random(in: -63_113_904_000...252_423_993_599, using: &generator)
            return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case 7, 8: return .array((0..<count).map { _ in tree(depth: depth - 1) })
        default:
            let entries = (0..<count).map { _ in (string(), tree(depth: depth - 1)) }
            return .dictionary(Dictionary(entries) { first, _ in first })
        }
    }

    private mutating func real() -> Double {
        let number = Double(bitPattern: generator.next())
        return number.isNaN ? .nan : number
    }

    private mutating func string() -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...20, using: &generator) {
            scalars.append(Self.characters.randomElement(using: &generator) ?? "a")
        }
        return String(scalars)
    }
}
