import Vault

/// Makes the vaults that are measured.
enum Filling {
    private static let entriesInATransaction = 100_000

    static func fill(_ location: VaultLocation, count: Int) throws {
        let keychain = try Keychain.create(at: location)
        for start in stride(from: 0, to: count, by: entriesInATransaction) {
            try keychain.transaction { transaction in
                for index in start..<min(start + entriesInATransaction, count) {
                    try transaction.set(Entries.name(index), to: Entries.value)
                }
            }
        }
        _ = try keychain.maintenance.compact()
    }

    /// Returns the seconds that a single transaction of so many entries takes.
    static func load(_ location: VaultLocation, count: Int) throws -> Double {
        let keychain = try Keychain.create(at: location)
        let time = try ContinuousClock().measure {
            try keychain.transaction { transaction in
                for index in 0..<count { try transaction.set(Entries.name(index), to: Entries.value) }
            }
        }
        return time / .seconds(1)
    }
}
