import Vault

/// Figures of a program that keeps its vault open. Tools/Benchmark/c/sqlcipher.c takes the first two in the same units,
/// with the same order of access.
struct LibraryFigures {
    private let keychain: Keychain
    private let count: Int

    private static let gets = 200_000
    private static let sets = 2_000

    init(_ location: VaultLocation) throws {
        keychain = try Keychain(at: location)
        count = try keychain.maintenance.information().entries
    }

    private func name(_ step: Int) -> String { Entries.name(Entries.scattered(step, below: count)) }

    /// Prints nanoseconds for each of many reads, once what is kept in memory is there.
    func get() throws {
        // Ready-made: Swift's interpolation would be a third of what is measured.
        let names = (0..<Self.gets).map(name)
        var time: Duration = .zero
        for _ in 0..<2 {
            time = try ContinuousClock().measure {
                for name in names {
                    let size = try keychain.withSecret(name) { $0.byteCount }
                    guard size == Entries.value.count else { throw BenchmarkError(description: "\(name) is lost") }
                }
            }
        }
        print(time / .nanoseconds(1) / Double(Self.gets))
    }

    /// Prints the median of many durable sets in microseconds.
    func set() throws {
        let times = try timesOfSets(Self.sets)
        print(times[times.count / 2])
    }

    /// Prints of so many durable sets, in microseconds, the time that 99 of 100 keep, and the longest.
    func sets(_ count: Int) throws {
        let times = try timesOfSets(count)
        print(times[count * 99 / 100], times[count - 1], separator: "\t")
    }

    /// In ascending order.
    private func timesOfSets(_ sets: Int) throws -> [Double] {
        try (0..<sets).map { step in
            let name = name(step)
            return try ContinuousClock().measure { try keychain.set(name, to: Entries.value) } / .microseconds(1)
        }.sorted()
    }

    /// Prints the sets per second of one thread, and of 64.
    func threads() throws {
        let rates = try [(1, 2_000), (64, 300)].map { (threads, setsEach) in
            let time = try ContinuousClock().measure {
                try Threads.run(threads) { [keychain, count] thread in
                    for step in 0..<setsEach {
                        let index = Entries.scattered(thread * setsEach + step, below: count)
                        try keychain.set(Entries.name(index), to: Entries.value)
                    }
                }
            }
            return Double(threads * setsEach) / (time / .seconds(1))
        }
        print(rates[0], rates[1], separator: "\t")
    }
}
