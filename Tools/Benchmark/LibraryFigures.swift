import Vault

/// What the library does per second in a process that keeps its vault open, beside the bare calls under it.
struct LibraryFigures {
    private let keychain: Keychain
    private let location: VaultLocation
    private let names: [String]

    init(_ location: VaultLocation) throws {
        keychain = try Keychain(at: location)
        self.location = location
        let count = try keychain.information().entries
        // Ready-made, in no order: writing a name is not what is measured.
        names = (0..<count).map { Entries.name(Entries.scattered($0, below: count)) }
    }

    func measure() throws {
        try measureGet()
        try measureSet(threads: 1, setsEach: 1, rounds: 400)
        try measureSet(threads: 8, setsEach: 50, rounds: 15)
    }

    private func measureGet() throws {
        let gets = 1_000
        let floor = BareBox(valueSize: Entries.value.count)
        var next = 0
        let pairs = try Pairs.measure(rounds: 200) {
            for _ in 0..<gets {
                let size = try keychain.withSecret(names[next]) { $0.byteCount }
                guard size == Entries.value.count else { throw BenchmarkError(description: "\(names[next]) is lost") }
                next = (next + 1) % names.count
            }
        } floor: {
            for _ in 0..<gets { try floor.open() }
        }
        pairs.report("library get", operations: gets, floorOperations: gets)
    }

    /// As many durable sets from each thread; the bare writes come from one thread, since one file takes one at a time.
    private func measureSet(threads: Int, setsEach: Int, rounds: Int) throws {
        let sets = threads * setsEach
        let floor = try BareWrites(path: location.vault + ".floor", count: (rounds + Pairs.warmUp) * sets)
        let pairs = try Pairs.measure(rounds: rounds) {
            try Threads.run(threads) { thread in
                for step in 0..<setsEach {
                    try keychain.set(names[(thread * setsEach + step) % names.count], to: Entries.value)
                }
            }
        } floor: {
            for _ in 0..<sets { try floor.write() }
        }
        pairs.report(
            "library set, \(threads) thread\(threads == 1 ? "" : "s")", operations: sets, floorOperations: sets)
    }
}
