import Glibc
import LinuxSystem
import Vault

/// What is measured beside other stores, each in a process of its own: see Tools/Benchmark/c/peer.h, whose units and
/// order of access these have.
struct ComparedFigures {
    private let keychain: Keychain
    private let path: String
    private let count: Int

    private static let gets = 200_000
    private static let sets = 2_000

    init(_ location: VaultLocation) throws {
        keychain = try Keychain(at: location)
        path = location.vault
        // Other figures leave names of their own.
        count = try keychain.keys(prefix: Entries.prefix).count
    }

    /// Prints a figure; false if there is none of that name.
    func measure(_ figure: Substring) throws -> Bool {
        switch figure {
        case "get": try get()
        case "typed": try typed()
        case "set": try set()
        case "names": try names()
        case "threads": try threads()
        default: return false
        }
        return true
    }

    private func name(_ step: Int) -> String { Entries.name(Entries.scattered(step, below: count)) }

    /// Prints nanoseconds for each of many reads, once what is kept in memory is there.
    private func get() throws {
        // Ready-made: Swift's interpolation would be a third of what is measured.
        let names = (0..<Self.gets).map(name)
        try nanosecondsEach { step in
            let size = try keychain.withSecret(names[step]) { $0.byteCount }
            guard size == Entries.value.count else { throw BenchmarkError(description: "\(names[step]) is lost") }
        }
    }

    private func typed() throws {
        let key = KeychainStorable<String>("benchmark.typed", in: .store(keychain))
        try key.write(String(repeating: "v", count: Entries.value.count))
        try nanosecondsEach { _ in _ = try key.read() }
    }

    private func nanosecondsEach(_ body: (Int) throws -> Void) throws {
        var time: Duration = .zero
        for _ in 0..<2 {
            time = try ContinuousClock().measure { for step in 0..<Self.gets { try body(step) } }
        }
        print(time / .nanoseconds(1) / Double(Self.gets))
    }

    /// Prints the median of many durable sets in microseconds.
    private func set() throws {
        let times = try timesOfSets(Self.sets)
        print(times[times.count / 2])
    }

    /// Prints of so many durable sets, in microseconds, the mean, the time that 99 of 100 keep, and the longest.
    func sets(_ count: Int) throws {
        let times = try timesOfSets(count)
        print(times.reduce(0, +) / Double(count), times[count * 99 / 100], times[count - 1], separator: "\t")
    }

    /// In ascending order.
    private func timesOfSets(_ sets: Int) throws -> [Double] {
        try (0..<sets).map { step in
            let name = name(step)
            return try ContinuousClock().measure { try keychain.set(name, to: Entries.value) } / .microseconds(1)
        }.sorted()
    }

    /// Prints the seconds that all names take.
    private func names() throws {
        var found = 0
        let time = try ContinuousClock().measure {
            var listing = try keychain.names(prefix: Entries.prefix)
            while try listing.next() != nil { found += 1 }
        }
        guard found == count else { throw BenchmarkError(description: "\(found) names instead of \(count)") }
        print(time / .seconds(1))
    }

    /// Prints the sets per second of one thread, of 8 and of 64.
    private func threads() throws {
        let rates = try [(1, 2_000), (8, 1_000), (64, 300)].map { (threads, setsEach) in
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
        print(rates.map { "\($0)" }.joined(separator: "\t"))
    }
}
