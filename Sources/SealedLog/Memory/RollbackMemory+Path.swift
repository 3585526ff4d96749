import Sealing
import Synchronization

// The vault that was last opened at a path.

extension RollbackMemory {
    private static let pathMagic: [UInt8] = Array("vltpath1".utf8)

    static func pathName(_ path: String) -> String { "\(Hexadecimal.string(of: hash(Array(path.utf8)))).path" }

    struct PathRecord: Hashable, Sendable {
        let vaultID: [UInt8]
        /// The fingerprint of the file whose directory entry was flushed; nil if another vault wrote the record.
        let durable: Authenticator?
    }

    func pathRecord() -> PathRecord? {
        guard let bytes = read(RollbackMemory.pathName(path)), let id = RollbackMemory.vaultID(inPathFile: bytes)
        else { return nil }
        // A record written by another vault is authenticated under that vault's key, which is unknown here.
        guard id == vaultID else { return PathRecord(vaultID: id, durable: nil) }
        pathIsKnown.store(true, ordering: .relaxed)
        var reader = body(of: bytes, magic: RollbackMemory.pathMagic, context: Array(path.utf8))
        return (try? reader?.authenticator()).map { PathRecord(vaultID: id, durable: $0) }
    }

    /// Writes the path's record. `durable` is the fingerprint of the file whose directory entry was flushed, if known.
    func rememberPath(durable: Authenticator?) {
        var file = ByteWriter(reserving: RollbackMemory.fileSize)
        file.append(RollbackMemory.pathMagic + vaultID)
        if let durable { file.authenticator(durable) } else { file.zeros(Authenticator.size) }
        file.integer(RollbackMemory.checksum(file.bytes))
        file.zeros(8)
        update(MemoryFile(RollbackMemory.pathName(path), in: folder), to: file.bytes, context: Array(path.utf8))
        pathIsKnown.store(true, ordering: .relaxed)
    }

    /// Whether this object has read or written this vault's ID in the path's record. The write may have failed.
    var knowsPath: Bool { pathIsKnown.load(ordering: .relaxed) }

    static func remembersVault(at path: String, in folder: MemoryFolder) -> Bool {
        folder.read(pathName(path), size: fileSize) { _ in }.flatMap(vaultID(inPathFile:)) != nil
    }

    /// Returns the vault ID in a path's record if the checksum matches. Nothing else can be checked without a key.
    private static func vaultID(inPathFile bytes: [UInt8]) -> [UInt8]? {
        let checked = pathMagic.count + Header.identifierSize + Authenticator.size
        guard bytes.count >= fileSize, bytes.starts(with: pathMagic) else { return nil }
        var reader = ByteReader(bytes, in: checked..<bytes.count)
        guard let sum: UInt64 = try? reader.integer(), sum == checksum(Array(bytes[..<checked])) else { return nil }
        return Array(bytes[pathMagic.count..<pathMagic.count + Header.identifierSize])
    }

    /// Returns a fingerprint of a file's checkpoint and location. The header alone would not distinguish copies.
    func fingerprint(of file: CheckpointFile, _ locationState: [UInt8]?) -> Authenticator? {
        guard let locationState else { return nil }
        var writer = ByteWriter(reserving: 64)
        writer.authenticator(file.origin)
        writer.append(locationState)
        return RollbackMemory.hash(writer.bytes).withUnsafeBytes { Authenticator($0) }
    }
}

/// A file's identity together with its checkpoint. The identity alone is not enough, since overwriting a file in place
/// does not change it.
struct CheckpointFile: Hashable, Sendable {
    let origin: Authenticator
    let identity: RecordStoreIdentity
}
