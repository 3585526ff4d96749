import Vault

/// What calls that await cost over the same calls that block: each runs on a thread of the library's own.
struct AsyncFigures {
    private let key: KeychainStorable<Int>

    init(_ location: VaultLocation) throws {
        key = KeychainStorable("benchmark.awaited", in: .store(try Keychain(at: location)))
    }

    func measure() async throws {
        try writeOnce()
        try await measure("typed get that awaits", callsEach: 100, rounds: 100) {
            _ = try await key.read()
        } floor: {
            _ = try key.read()
        }
        try await measure("typed set that awaits", callsEach: 1, rounds: 300) {
            try await key.write(2)
        } floor: {
            try key.write(3)
        }
    }

    /// Where `await` is possible, the compiler would choose the call that awaits.
    private func writeOnce() throws { try key.write(1) }

    private func measure(
        _ label: String, callsEach: Int, rounds: Int, _ call: () async throws -> Void, floor: () throws -> Void
    ) async throws {
        let pairs = try await Pairs.measure(rounds: rounds) {
            for _ in 0..<callsEach { try await call() }
        } floor: {
            for _ in 0..<callsEach { try floor() }
        }
        pairs.report(label, operations: callsEach, floorOperations: callsEach)
    }
}
