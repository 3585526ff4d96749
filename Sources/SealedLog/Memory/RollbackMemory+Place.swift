import LinuxSystem
import Sealing

// Which vault lay at the path.

extension RollbackMemory {
    private static let pathMagic: [UInt8] = Array("vltpath1".utf8)

    struct Place: Hashable, Sendable {
        let vaultID: [UInt8]
        /// The mark of the file whose name was flushed; nil if the memory does not authenticate under this vault's key.
        let durable: Authenticator?
    }

    /// Which vault was at the path; nil without memory.
    func place() -> Place? {
        guard let bytes = read(pathName) else { return nil }
        guard let id = RollbackMemory.vaultID(inPathFile: bytes) else { return nil }
        let context = Array(path.utf8)
        guard
            let body = authentic(
                bytes, magic: RollbackMemory.pathMagic, context: context, size: RollbackMemory.fileSize)
        else {
            // Only the key of the vault that was here before could tell more.
            return id == vaultID ? nil : Place(vaultID: id, durable: nil)
        }
        var reader = ByteReader(body, in: Header.identifierSize..<body.count)
        return Place(vaultID: id, durable: try? reader.authenticator())
    }

    /// The vault id in a path's memory, if its checksum holds: all that can be had without a key.
    private static func vaultID(inPathFile bytes: [UInt8]) -> [UInt8]? {
        let checked = pathMagic.count + Header.identifierSize + Authenticator.size
        guard bytes.count >= fileSize, bytes.starts(with: pathMagic) else { return nil }
        var reader = ByteReader(bytes, in: checked..<bytes.count)
        guard let sum: UInt64 = try? reader.integer(), sum == checksum(bytes[..<checked]) else { return nil }
        return Array(bytes[pathMagic.count..<pathMagic.count + Header.identifierSize])
    }

    /// Stands for a file with its checkpoint, and for its name: it is another one for another file, and after any name
    /// in the folder has changed. A copy of the file has the same header, and even the same number if the first one was
    /// removed.
    func mark(of location: SealedLog.Location) -> Authenticator? {
        guard let file = location.file, let folder = try? folder.fileSystem.status(at: path.parentFolder)
        else { return nil }
        var writer = ByteWriter(reserving: 64)
        writer.authenticator(location.origin)
        for identity in [file, folder.identity] {
            writer.integer(identity.device)
            writer.integer(identity.inode)
        }
        writer.integer(UInt64(bitPattern: folder.contentsChanged))
        var hash = [UInt8](repeating: 0, count: Authenticator.size)
        let isHashed: Void? = try? writer.bytes.withUnsafeBytes { bytes in
            try hash.withUnsafeMutableBytes { try KeyedHash.hash(bytes, into: $0) }
        }
        return isHashed.map { hash.withUnsafeBytes { Authenticator($0) } }
    }

    /// - Parameter durable: the mark of the file whose name has been flushed; nil if that is not known.
    func rememberPlace(durable: Authenticator?) {
        var body = ByteWriter(reserving: 48)
        body.append(vaultID)
        if let durable { body.authenticator(durable) } else { body.zeros(Authenticator.size) }
        body.integer(RollbackMemory.checksum(RollbackMemory.pathMagic + body.bytes))
        body.zeros(8)
        update(pathName, magic: RollbackMemory.pathMagic, context: Array(path.utf8), body: body.bytes)
    }

    /// The id of the vault that was last opened at a path; nil without memory.
    static func rememberedVault(at path: String, in folder: MemoryFolder) -> String? {
        guard let bytes = try? folder.read(fileName(for: path))?.bytes else { return nil }
        return vaultID(inPathFile: bytes).map(Hexadecimal.string(of:))
    }

    var pathName: String { RollbackMemory.fileName(for: path) }

    private static func fileName(for path: String) -> String {
        var hash = [UInt8](repeating: 0, count: 16)
        // The lengths are right, so it cannot fail.
        try? Array(path.utf8).withUnsafeBytes { path in
            try hash.withUnsafeMutableBytes { try KeyedHash.hash(path, into: $0) }
        }
        return "\(Hexadecimal.string(of: hash)).path"
    }

    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        let key = [UInt8](repeating: 0, count: ShortHash.keySize)
        // The key has the right length, so it cannot fail.
        return
            (try? Array(bytes).withUnsafeBytes { bytes in
                try key.withUnsafeBytes { try ShortHash.hash(bytes, key: $0) }
            }) ?? 0
    }
}
