import LinuxSystem
import SealedLog
import Sealing
import TestSupport
import Vault

@testable import VaultShared

/// A vault of a test's own in the database.
struct DatabaseFixture {
    let folder: TemporaryFolder
    let url: String

    init(in cluster: Cluster? = nil) throws {
        folder = try TemporaryFolder()
        url = try (cluster ?? Cluster.shared.get()).url("t\(UInt64.random(in: 0 ... .max))")
    }

    /// The locations of one of several machines that share the key.
    func location(machine: String = "one") -> VaultLocation {
        var location = VaultLocation(
            vault: url, keyFile: folder.file("key"), rollbackMemory: folder.file("\(machine).state"))
        location.cache = folder.file("\(machine).cache")
        location.databases = .postgreSQL
        return location
    }

    func open(machine: String = "one") throws -> Keychain {
        try Keychain(at: location(machine: machine), creatingIfAbsent: true)
    }

    func storeLocation(
        isShortLived: Bool = false, staysOffline: Bool = false, in files: any FileSystem = PosixFileSystem()
    ) throws -> PostgresLocation {
        var options = StoreOptions()
        options.offline = staysOffline ? .always : .ifUnreachable
        options.isShortLived = isShortLived
        return try PostgresLocation(url, location(), options, in: files)
    }

    /// Opens a log of its own, that goes on without the server.
    ///
    /// - Parameter isShortLived: whether its first reading trusts what was there when it was opened.
    func openLog(
        isShortLived: Bool = false, in files: any FileSystem = PosixFileSystem()
    ) throws -> (PostgresLocation, SealedLog) {
        let storeLocation = try storeLocation(isShortLived: isShortLived, in: files)
        var unlocker = unlocker
        let options = SealedLog.Options(memoryFolder: folder.file("././one.state"))
        return (storeLocation, try SealedLog.open(storeLocation, options: options, with: &unlocker))
    }

    private var unlocker: KeyFileUnlocker {
        KeyFileUnlocker { [folder] () throws(LogError) in
            try KeyFile.read(folder.file("key"), secretFolders: [], in: PosixFileSystem())
        }
    }

    /// Merges what was changed offline, as opening the vault does.
    func mergePending(_ copy: FileLocation, into log: SealedLog) throws(LogError) -> MergeReport? {
        var unlocker = unlocker
        return try log.mergePending(copy, with: &unlocker, timeout: .seconds(5))
    }

    /// Opens the vault as another process of this machine does that asks no server.
    func openOffline() throws -> Keychain {
        var options = Keychain.Options()
        options.offline = .always
        var location = location()
        location.rollbackMemory = folder.file("./one.state")
        return try Keychain(at: location, options: options)
    }
}
