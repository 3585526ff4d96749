/// Random numbers that are the same in every run (SplitMix64), so that a failing seed fails again.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

    private var state: UInt64

    package init(_ seed: Int) {
        // The seed is mixed: otherwise, the numbers of the next seed would be those of this one from the second on.
        state = SeededGenerator.mixed(UInt64(truncatingIfNeeded: seed) &* SeededGenerator.increment &+ 1)
    }

    package mutating func next() -> UInt64 {
        state &+= SeededGenerator.increment
        return SeededGenerator.mixed(state)
    }

    private static func mixed(_ state: UInt64) -> UInt64 {
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { withUnsafeBytes(of: next()) { bytes.append(contentsOf: $0) } }
        return Array(bytes.prefix(count))
    }
}
