import CSimulator
import LinuxSystem
import Sealing
import TestSupport
import Vault

/// The files that a run begins with, so that it meets early what takes many changes: made once, by the library itself.
struct Image {
    enum Kind: Int, CaseIterable { case none, small, beforeMinorCheckpoint, tree, beforeCompaction }

    let files: [String: [UInt8]]
    /// What the vault holds.
    let values: [String: String]
    /// Another vault under the same key.
    let otherVault: [UInt8]

    static func places(isShared: Bool) -> VaultPlaces {
        let folder = isShared ? World.share : World.home
        return VaultPlaces(
            vault: "\(folder)/data/default.vault", keyFile: "\(folder)/keys/default.key",
            rollbackMemory: World.home + "/state")
    }

    /// - Parameter isShared: whether the vault is on the disk that all machines share.
    init(_ kind: Kind, isShared: Bool) throws {
        let world = World(1, machines: 1)
        vault_simulation_enter(1)
        defer { vault_simulation_enter(0) }
        let places = Image.places(isShared: isShared)
        let files = SimulatedFileSystem(world: world, process: world.startProcess(on: 0))
        guard kind != .none else {
            (self.files, values, otherVault) = ([:], [:], [])
            return
        }
        let keychain = try Keychain(at: places, creatingIfAbsent: true, in: files)
        values = try Image.fill(keychain, kind)
        var other = places
        other.vault = (isShared ? World.share : World.home) + "/other.vault"
        let otherKeychain = try Keychain(at: other, creatingIfAbsent: true, in: files)
        try otherKeychain.set("a/1", to: "of another vault")
        otherVault = world.contents(other.vault) ?? []
        self.files = Dictionary(
            uniqueKeysWithValues: world.disks.flatMap { disk in
                disk.names.keys.compactMap { path in
                    path == other.vault ? nil : disk.contents(path).map { (path, $0) }
                }
            })
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
