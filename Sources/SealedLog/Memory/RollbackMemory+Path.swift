import Sealing
import Synchronization

// The vault that was last opened at a path.

extension RollbackMemory {
    private static let pathMagic: [UInt8] = Array("vltpath1".utf8)

    static func pathName(_ path: String) -> String { "\(Hexadecimal.string(of: hash(Array(path.utf8)))).path" }

    struct PathRecord: Hashable, Sendable {
        let vaultID: [UInt8]
        /// The fingerprint of the file whose name was flushed; nil if another vault wrote the record.
        let durable: Authenticator?
    }

    func pathRecord() -> PathRecord? {
        guard let bytes = read(RollbackMemory.pathName(path)), let id = RollbackMemory.vaultID(inPathFile: bytes)
        else { return nil }
        // Another vault's record can be authenticated only under that vault's key.
        guard id == vaultID else { return PathRecord(vaultID: id, durable: nil) }
        pathIsKnown.store(true, ordering: .relaxed)
        var reader = body(of: bytes, magic: RollbackMemory.pathMagic, context: Array(path.utf8))
        return (try? reader?.authenticator()).map { PathRecord(vaultID: id, durable: $0) }
    }

    /// - Parameter durable: the fingerprint of the file whose name has been flushed; nil if unknown.
    func rememberPath(durable: Authenticator?) {
        var file = ByteWriter(reserving: RollbackMemory.fileSize)
        file.append(RollbackMemory.pathMagic + vaultID)
        if let durable { file.authenticator(durable) } else { file.zeros(Authenticator.size) }
        file.integer(RollbackMemory.checksum(file.bytes))
        file.zeros(8)
        update(MemoryFile(RollbackMemory.pathName(path), in: folder), to: file.bytes, context: Array(path.utf8))
        pathIsKnown.store(true, ordering: .relaxed)
    }

    /// Whether the record of the path contains this vault, or was meant to.
    var knowsPath: Bool { pathIsKnown.load(ordering: .relaxed) }

    static func remembersVault(at path: String, in folder: MemoryFolder) -> Bool {
        folder.read(pathName(path), size: fileSize) { _ in }.flatMap(vaultID(inPathFile:)) != nil
    }

    /// Returns the vault ID in a path's record if its checksum is right. Without a key, nothing more can be checked.
    private static func vaultID(inPathFile bytes: [UInt8]) -> [UInt8]? {
        let checked = pathMagic.count + Header.identifierSize + Authenticator.size
        guard bytes.count >= fileSize, bytes.starts(with: pathMagic) else { return nil }
        var reader = ByteReader(bytes, in: checked..<bytes.count)
        guard let sum: UInt64 = try? reader.integer(), sum == checksum(Array(bytes[..<checked])) else { return nil }
        return Array(bytes[pathMagic.count..<pathMagic.count + Header.identifierSize])
    }

    /// Returns the fingerprint of a file, from its checkpoint and its location. A copy of the file has the same header.
    func fingerprint(of file: CheckpointFile, _ locationState: [UInt8]?) -> Authenticator? {
        guard let locationState else { return nil }
        var writer = ByteWriter(reserving: 64)
        writer.authenticator(file.origin)
        writer.append(locationState)
        return RollbackMemory.hash(writer.bytes).withUnsafeBytes { Authenticator($0) }
    }
}

/// Identifies a file together with its checkpoint. The identity alone is not enough, since a file that is overwritten
/// in place keeps it.
struct CheckpointFile: Hashable, Sendable {
    let origin: Authenticator
    let identity: RecordStoreIdentity
}
