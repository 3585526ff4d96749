import Sealing
import TestSupport
import Vault

@testable import VaultShared

/// A vault of a test's own in the database.
struct DatabaseFixture {
    let folder: TemporaryFolder
    let url: String

    init() throws {
        folder = try TemporaryFolder()
        url = try Cluster.shared.get().url("t\(UInt64.random(in: 0 ... .max))")
    }

    /// The places of one of several machines that share the key.
    func places(machine: String = "one") -> VaultPlaces {
        var places = VaultPlaces(
            vault: url, keyFile: folder.file("key"), rollbackMemory: folder.file("\(machine).state"))
        places.cache = folder.file("\(machine).cache")
        return places
    }

    func open(machine: String = "one") throws -> Keychain {
        try Keychain(at: places(machine: machine), creatingIfAbsent: true)
    }
}
