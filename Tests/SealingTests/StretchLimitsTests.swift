import Testing

@testable import Sealing

/// How much work a guess at a new passphrase takes.
@Suite("Limits of Argon2id")
struct StretchLimitsTests {
    private typealias Limits = KeyDerivation.StretchLimits

    /// A pass over 32 MiB takes so many milliseconds; half a second is wanted.
    @Test(arguments: [(100, 64), (50, 106), (25, 213), (20, 256), (10, 256), (0, 256), (60_000, 64)])
    func areAsHighAsTheMachineAllowsWithinBounds(taken: Int, mebibytes: UInt64) {
        let limits = Limits.affordable(
            in: .milliseconds(500), as: Limits(passes: 1, memory: 32 << 20), took: .milliseconds(taken))
        #expect(limits == Limits(passes: 3, memory: mebibytes << 20))
        #expect(limits.isWithinBounds && limits.cost <= Limits.largestCost)
    }

    @Test func areMeasured() {
        #expect(Limits.measured(for: .zero) == .recommended)
        #expect(Limits.measured(for: .seconds(1_000_000)).cost == Limits.largestCost)
    }
}
