import TestSupport
import Testing

@testable import SealedFormat

/// What a merged file knows of the log positions of both its copies; Format.md, "Merging".
@Suite("Merged positions")
struct MergedPositionsTests {
    /// Two histories with a common past, each known from a number of its own on.
    private struct Histories {
        let own: [LogPosition]
        let other: [LogPosition]
        let ownFirst: Int
        let otherFirst: Int

        init(_ generator: inout SeededGenerator) {
            let past = randomPositions(0..<Int.random(in: 1..<12, using: &generator))
            own = past + randomPositions(past.count..<past.count + Int.random(in: 1..<9, using: &generator))
            other = past + randomPositions(past.count..<past.count + Int.random(in: 1..<9, using: &generator))
            ownFirst = .random(in: 0..<own.count, using: &generator)
            otherFirst = .random(in: 0..<other.count, using: &generator)
        }

        /// The manifest of a file whose chain begins at a number.
        static func manifest(of history: [LogPosition], from first: Int) -> Manifest {
            Manifest(
                created: 1, totals: Totals(), chain: history.dropLast()[first...].map(\.authenticator), labels: [],
                settings: [])
        }
    }

    @Test func nothingThatWasThereIsMissingAndNothingElseIsThere() {
        var known = 0
        var unknown = 0
        for seed in 0..<2_000 {
            var generator = SeededGenerator(seed)
            let histories = Histories(&generator)
            let origin = histories.own.last ?? LogPosition(sequence: 0, authenticator: .zero)
            var manifest = Histories.manifest(of: histories.own, from: min(histories.ownFirst, Int(origin.sequence)))
            let end = histories.other.count - 1
            let other = Histories.manifest(of: histories.other, from: min(histories.otherFirst, end))
            var positions = other.positions(before: histories.other[end])
            positions.append(histories.other[end])
            let limit = Int.random(in: 1..<30, using: &generator)
            manifest.merge(positions, before: origin, isBelieved: true, upTo: limit)
            #expect(manifest.chain.isEmpty && manifest.merged.count <= limit)
            // The header follows both histories.
            let header = LogPosition(sequence: 100, authenticator: randomAuthenticator())
            for position in histories.own.dropLast() + histories.other {
                let inclusion = manifest.includes(position, before: header)
                #expect(inclusion != .excluded, "seed \(seed): \(position.sequence) counts as missing")
                if inclusion == .included { known += 1 } else { unknown += 1 }
                let foreign = LogPosition(sequence: position.sequence, authenticator: randomAuthenticator())
                #expect(manifest.includes(foreign, before: header) != .included, "seed \(seed)")
            }
            // All that both know is known if there is room.
            let first = max(histories.ownFirst, histories.otherFirst)
            let all = Set(histories.own.dropLast() + histories.other).filter { $0.sequence >= first }
            if all.count <= limit { #expect(Set(manifest.merged) == all, "seed \(seed)") }
        }
        #expect(known > 1_000 && unknown > 1_000)
    }

    @Test(arguments: [true, false]) func aHistoryThatIsNotBelievedLeavesTheOtherOneAlone(_ isBelieved: Bool) {
        var generator = SeededGenerator(7)
        let own = randomPositions(3..<9)
        let other = randomPositions(1..<6).shuffled(using: &generator)
        var manifest = Histories.manifest(of: own, from: 0)
        manifest.merge(KnownPositions(other, first: 2), before: own[5], isBelieved: isBelieved, upTo: 30)
        #expect(
            Set(manifest.merged)
                == Set(other.filter { $0.sequence >= (isBelieved ? 3 : 2) } + (isBelieved ? own.dropLast() : [own[4]])))
        #expect(zip(manifest.merged, manifest.merged.dropFirst()).allSatisfy { $0.sequence <= $1.sequence })
        #expect(manifest.chain.isEmpty)
    }
}

private func randomPositions(_ numbers: Range<Int>) -> [LogPosition] {
    numbers.map { LogPosition(sequence: UInt64($0), authenticator: randomAuthenticator()) }
}
