import Vault

/// What preferences of a hundred keys do per second, beside a bare replacement of a file as large.
struct PreferenceFigures {
    private static let keys = 100
    private let path: String

    init(path: String) {
        self.path = path
    }

    func measure() throws {
        try measure("preferences set, at once", nil, setsEach: 1, rounds: 300)
        // As a slider or a window's place changes: thousands of times while it is written a few times a second.
        try measure("preferences set, coalesced", .milliseconds(200), setsEach: 1_000, rounds: 20)
        try measureGet()
        try measureGetAfterSet()
    }

    private func preferences(coalescing interval: Duration?) throws -> Preferences {
        let preferences = Preferences(path: path, coalescing: interval)
        try preferences.atomically { transaction in
            for number in 0..<Self.keys { try transaction.write(number, to: key(number, in: preferences)) }
        }
        try preferences.flush()
        return preferences
    }

    private func key(_ number: Int, in preferences: Preferences) -> DefaultedKey<Storable<Int>> {
        Storable("key-\(number)", in: .store(preferences)).defaulting(to: 0)
    }

    private func measure(_ label: String, _ interval: Duration?, setsEach: Int, rounds: Int) throws {
        let preferences = try preferences(coalescing: interval)
        let keys = (0..<Self.keys).map { key($0, in: preferences) }
        let floor = try BareReplacement(of: path)
        // From beyond the values that are there: a set that changes nothing writes nothing.
        var next = Self.keys
        let pairs = try Pairs.measure(rounds: rounds) {
            for _ in 0..<setsEach {
                next += 1
                try keys[next % keys.count].write(next)
            }
        } floor: {
            try floor.replace()
        }
        pairs.report(label, operations: setsEach, floorOperations: 1)
    }

    private func measureGet() throws {
        let gets = 1_000
        let key = key(7, in: try preferences(coalescing: nil))
        let floor = BareStatus(of: path)
        let pairs = try Pairs.measure(rounds: 100) {
            for _ in 0..<gets {
                guard try key.read() == 7 else { throw BenchmarkError(description: "a value is lost") }
            }
        } floor: {
            for _ in 0..<gets { try floor.look() }
        }
        pairs.report("preferences get", operations: gets, floorOperations: gets)
    }

    /// Measures gets while the file's times would not yet tell of another change.
    private func measureGetAfterSet() throws {
        let gets = 100
        let key = key(7, in: try preferences(coalescing: nil))
        let floor = BareStatus(of: path)
        var next = Self.keys
        func set() throws {
            next += 1
            try key.write(next)
        }
        let pairs = try Pairs.measure(rounds: 100, prepare: set) {
            for _ in 0..<gets {
                guard try key.read() == next else { throw BenchmarkError(description: "a value is lost") }
            }
        } floor: {
            for _ in 0..<gets { try floor.look() }
        }
        pairs.report("preferences get, right after a set", operations: gets, floorOperations: gets)
    }
}
