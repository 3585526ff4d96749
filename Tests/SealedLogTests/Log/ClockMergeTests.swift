import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Machines whose clocks are wrong change copies of one vault, and merge them.
@Suite("Merging by wrong clocks")
struct ClockMergeTests {
    private static let batches = Sanitizer.isAddress ? 20 : 5
    private static let batchSize = 20
    private static let names = ["a", "b", "c"]
    private static let day: Int64 = 86_400_000
    private static let kept: Int64 = 36_500

    private let fixture: LogFixture

    init() throws {
        fixture = try LogFixture(history: KeptHistory(versions: 255, days: UInt32(ClockMergeTests.kept)))
    }

    /// A copy of the vault on a machine, and what is known of each name there.
    private struct Machine {
        let log: SealedLog
        /// How far its clock is ahead.
        let ahead: Int64
        /// The number of the change that counts.
        var present: [String: Int] = [:]
        /// The numbers of the changes that were made here, or have come by a merge.
        var seen: [String: Set<Int>] = [:]
        /// Those of them that a clock from beyond the time for which history is kept may have dropped from it.
        var dropped: [String: Set<Int>] = [:]

        func clock(_ now: Int64) -> UInt64 { UInt64(max(0, now.addingReportingOverflow(ahead).partialValue)) }
    }

    private func copies(_ count: Int, _ seed: Int, _ generator: inout SeededGenerator) throws -> [Machine] {
        let log = try fixture.open()
        let bytes = try contents(log.view.withLock { $0.store.path })
        return try (0..<count).map { number in
            let path = fixture.folder.file("\(seed) \(number)")
            try overwrite(path, bytes)
            return Machine(
                log: try openApart(path, options: SealedLog.Options(), readKey: fixture.key),
                ahead: ahead(&generator))
        }
    }

    /// From a clock that begins in 1970 to one that is in the year 9999, and beyond.
    private func ahead(_ generator: inout SeededGenerator) -> Int64 {
        let day = ClockMergeTests.day
        let cases = [
            0, 0, 59_000, -59_000, day - 1_000_000, -day + 1_000_000, 2 * day, -2 * day, 1_826 * day, -1_826 * day,
            -30_000 * day, 251_600_000_000_000, 1 << 62,
        ]
        return cases.randomElement(using: &generator) ?? 0
    }

    @Test(arguments: 0..<batches)
    func whatWasMadeOnTopOfWhatWasSeenCounts(_ batch: Int) throws {
        for seed in batch * ClockMergeTests.batchSize..<(batch + 1) * ClockMergeTests.batchSize {
            do { try run(seed) } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    /// Whether its time counts or not.
    @Test(arguments: [0, 2, 1_826, 30_000_000]) func aRemovalThatDoesNotCountIsNamed(_ daysAhead: Int64) throws {
        let now = Int64(Clock.milliseconds)
        try fixture.open().commit([fixture.open().change("a", to: Array("first".utf8))], at: UInt64(now - 1_000))
        let bytes = try contents(fixture.open().view.withLock { $0.store.path })
        let logs = try ["one", "other"].map { name in
            let path = fixture.folder.file(name)
            try overwrite(path, bytes)
            return try openApart(path, options: SealedLog.Options(), readKey: fixture.key)
        }
        let removal = try logs[0].change("a", to: nil)
        try logs[0].commit([removal], at: UInt64(now + daysAhead * ClockMergeTests.day))
        try logs[1].commit([removal], at: UInt64(now + 1_000))
        try logs[1].commit([logs[1].change("a", to: Array("later".utf8))], at: UInt64(now + 2_000))
        let theirs = try logs[0].read(isSure: true) { $0 }
        let report = try logs[1].merge(
            theirs, isPinned: true, .none, [], nil, timeout: SealedLog.patience, at: UInt64(now + 3_000))
        #expect(try logs[1].text("a") == "later")
        #expect(report.conflicts == (daysAhead == 0 ? [] : ["a"]))
    }

    private func run(_ seed: Int) throws {
        var generator = SeededGenerator(77_000 + seed)
        var machines = try copies(seed.isMultiple(of: 3) ? 2 : 3, seed, &generator)
        var now = Int64(Clock.milliseconds)
        var change = 0
        for _ in 0..<30 {
            now += Int64.random(in: 1...600_000, using: &generator)
            let index = machines.indices.randomElement(using: &generator) ?? 0
            if Int.random(in: 0..<3, using: &generator) > 0 {
                change += 1
                let name = ClockMergeTests.names.randomElement(using: &generator) ?? ""
                try make(change, of: name, on: &machines[index], now)
            } else {
                let other = (index + Int.random(in: 1..<machines.count, using: &generator)) % machines.count
                try merge(machines[other], into: &machines[index], now, seed)
            }
        }
        try mergeAll(&machines, &now, &change, seed)
    }

    private func make(_ change: Int, of name: String, on machine: inout Machine, _ now: Int64) throws {
        let changes = [try machine.log.change(name, to: Array("\(change)".utf8))]
        try machine.log.commit(changes, at: machine.clock(now))
        if machine.ahead > ClockMergeTests.kept * ClockMergeTests.day {
            let replaced = machine.present[name].map { [$0] } ?? []
            machine.dropped[name, default: []].formUnion(machine.seen[name]?.subtracting(replaced) ?? [])
        }
        machine.present[name] = change
        machine.seen[name, default: []].insert(change)
    }

    private func merge(_ other: Machine, into machine: inout Machine, _ now: Int64, _ seed: Int) throws {
        let theirs = try other.log.read(isSure: true) { $0 }
        _ = try machine.log.merge(
            theirs, isPinned: true, .none, [], nil, timeout: SealedLog.patience, at: machine.clock(now))
        for name in ClockMergeTests.names {
            let found = try machine.log.text(name).flatMap { Int($0) }
            let own = machine.present[name]
            let foreign = other.present[name]
            let follows = (foreign.map { machine.seen[name]?.contains($0) ?? false } ?? true)
            let isFollowed = (own.map { other.seen[name]?.contains($0) ?? false } ?? true)
            let isForgotten = [(own, other), (foreign, machine)].contains { state, machine in
                state.map { machine.dropped[name]?.contains($0) ?? false } ?? false
            }
            let expected: Set<Int?> =
                follows == isFollowed || isForgotten ? [own, foreign] : follows ? [own] : [foreign]
            #expect(expected.contains(found), "seed \(seed): \(name) is \(found ?? 0), not \(expected)")
            machine.present[name] = found
            machine.seen[name, default: []].formUnion(other.seen[name] ?? [])
            machine.dropped[name, default: []].formUnion(other.dropped[name] ?? [])
        }
    }

    /// After everything was merged, what is set anywhere is what every machine gets, and so is what follows it
    /// elsewhere.
    private func mergeAll(_ machines: inout [Machine], _ now: inout Int64, _ change: inout Int, _ seed: Int) throws {
        for _ in 0..<2 {
            for index in machines.indices {
                for other in machines.indices where other != index {
                    try merge(machines[other], into: &machines[index], now, seed)
                }
            }
        }
        for index in machines.indices {
            now += 1_000
            change += 1
            for name in ClockMergeTests.names { try make(change, of: name, on: &machines[index], now) }
            for other in machines.indices where other != index {
                try merge(machines[index], into: &machines[other], now, seed)
            }
            for machine in machines {
                for name in ClockMergeTests.names {
                    #expect(try machine.log.text(name) == "\(change)", "seed \(seed): \(name)")
                }
                try machine.log.verify()
            }
        }
    }
}
