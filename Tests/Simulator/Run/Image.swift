import CSimulator
import LinuxSystem
import Sealing
import TestSupport
import Vault
import VaultShared

/// The files that a run begins with, so that it meets early what takes many changes: made once, by the library itself.
struct Image {
    enum Kind: Int, CaseIterable { case none, small, beforeMinorCheckpoint, tree, beforeCompaction }

    static let vaultFolder = "/data"
    static let vaultName = "/default.vault"
    /// Of a file that is to take the vault's name.
    static let unpublishedName = "/.default.vault.vault-new"

    /// Where the vault is.
    enum Location {
        case ownDisk, sharedDisk
        case server(Database)
        case bucket(Bucket)

        var bucket: Bucket? { if case .bucket(let bucket) = self { bucket } else { nil } }
        var database: Database? { if case .server(let database) = self { database } else { nil } }

        var location: VaultLocation {
            let folder = if case .ownDisk = self { World.home } else { World.share }
            var location = VaultLocation(
                vault: folder + vaultFolder + vaultName, keyFile: "\(folder)/keys/default.key",
                rollbackMemory: World.home + "/state")
            if let database {
                location.vault = database.url
                location.databases = .postgreSQL
                location.cache = World.home + "/cache"
            }
            if let bucket {
                location.vault = "postgresql://objects/simulation#team"
                location.databases = VaultLocation.Databases(name: "objects") { (_, _, _, files) throws(VaultError) in
                    BucketLocation(bucket, in: files)
                }
            }
            return location
        }
    }

    let location: Location
    private let kind: Kind
    let files: [String: [UInt8]]
    /// What the vault holds.
    let values: [String: String]
    /// Another vault under the same key, in a file.
    private let foreign: [UInt8]
    /// The objects that a run begins with, and those of another vault under the same key.
    private let objects: (own: Bucket.Contents, foreign: Bucket.Contents)

    init(_ kind: Kind, at location: Location) throws {
        self.kind = kind
        self.location = location
        let world = World(1, machines: 1, location.database)
        vault_simulation_enter(1)
        defer { vault_simulation_enter(0) }
        let files = SimulatedFileSystem(world: world, process: world.startProcess(on: 0))
        guard kind != .none else {
            self.files = [:]
            values = [:]
            foreign = []
            objects = (Bucket.Contents(), Bucket.Contents())
            return
        }
        location.database?.clear()
        location.bucket?.contents = Bucket.Contents()
        values = try Image.fill(Image.vault(at: location.location, in: files), kind)
        location.database?.copy(to: .image(kind))
        location.database?.clear()
        let own = location.bucket?.contents ?? Bucket.Contents()
        location.bucket?.contents = Bucket.Contents()
        self.files = Dictionary(
            uniqueKeysWithValues: world.disks.flatMap { disk in
                disk.names.keys.compactMap { path in disk.contents(path).map { (path, $0) } }
            })
        var other = location.location
        other.rollbackMemory = nil
        other.cache = nil
        if !other.isInDatabase { other.vault += ".other" }
        try Image.vault(at: other, in: files).set("a/1", to: "of another vault")
        foreign = world.contents(other.vault) ?? []
        location.database?.copy(to: .foreign(kind))
        objects = (own, location.bucket?.contents ?? Bucket.Contents())
    }

    /// Puts the vault where a run finds it; its files are there.
    func storage(in world: World) -> any VaultStorage {
        if let bucket = location.bucket {
            bucket.contents = objects.own
            return ObjectStorage(bucket, foreign: objects.foreign)
        }
        guard let database = location.database else {
            let disk = if case .ownDisk = location { 0 } else { world.disks.count - 1 }
            return FileStorage(world, location.location.vault, disk: disk, foreign: foreign)
        }
        database.clear()
        if kind != .none { database.copy(.image(kind), to: .vault) }
        return DatabaseStorage(database, foreign: kind == .none ? nil : .foreign(kind))
    }

    /// Creates a vault that keeps to itself how far a world's clock is from the server's.
    private static func vault(at location: VaultLocation, in files: SimulatedFileSystem) throws -> Keychain {
        try Keychain(at: location, creatingIfAbsent: true, failures: FailureLog { _, _ in }, in: files)
    }

    private static func fill(_ keychain: Keychain, _ kind: Kind) throws -> [String: String] {
        var values: [String: String] = [:]
        func set(_ name: String, _ value: String) throws {
            values[name] = value
            guard try keychain.commit(StoreBatch([name: .string(value)])) else { throw SystemError(0, "fill") }
        }
        let rounds =
            switch kind {
            case .none: 0
            case .small: 5
            case .beforeMinorCheckpoint: 124
            case .tree: 150
            case .beforeCompaction: 12
            }
        let padding = String(repeating: "p", count: kind == .beforeCompaction ? 25_000 : 20)
        for round in 0..<rounds {
            try set("a/\(round % (kind == .tree ? 150 : 4))", "v\(round) of the image \(padding)")
        }
        if kind == .tree { try keychain.eraseRemoved() }
        try set("a/5", "the image's last")
        return values
    }
}

extension World {
    func contents(_ path: String) -> [UInt8]? { disks.lazy.compactMap { $0.contents(path) }.first }

    /// Puts files on the disk of the first machine, or on the shared one.
    func add(_ files: [String: [UInt8]]) {
        for path in files.keys.sorted() {
            let disk = path.hasPrefix(World.share) ? disks.count - 1 : 0
            disks[disk].add(path, files[path] ?? [])
        }
    }
}
