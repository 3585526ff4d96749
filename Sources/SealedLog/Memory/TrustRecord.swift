package import LinuxSystem
import Sealing

/// What a person has agreed to for one vault on this machine, before it is opened; Format.md, "The rollback memory".
///
/// No key of the vault authenticates it: it says which vaults may be opened at all. It counts as long as no other user
/// can have written it, as every part of the memory.
package struct TrustRecord: Hashable, Sendable {
    /// The vault's fingerprint, 16 bytes; nil if none is known.
    package var fingerprint: [UInt8]?
    /// The hash of the command that may be run for the key, 16 bytes; nil if none may.
    package var command: [UInt8]?

    private static let magic = Array("vlttrst1".utf8)
    private static let partSize = 16
    private static let size = magic.count + Header.identifierSize + 2 * partSize

    package init() {}

    /// Reads what is known of a vault; nothing if the file is missing, or cannot be trusted.
    package static func read(ofVault id: [UInt8], memoryFolder: String?, in files: any FileSystem) -> TrustRecord {
        var record = TrustRecord()
        guard let memoryFolder else { return record }
        let folder = MemoryFolder(path: memoryFolder, fileSystem: files)
        guard let bytes = folder.read(name(id), size: size, report: { _ in }), bytes.count >= size,
            bytes.starts(with: magic + id)
        else { return record }
        let parts = Array(bytes[(magic.count + id.count)...])
        record.fingerprint = part(parts[..<partSize])
        record.command = part(parts[partSize..<2 * partSize])
        return record
    }

    /// Remembers the record. Throws `unavailable` if that fails.
    package func write(ofVault id: [UInt8], memoryFolder: String, in files: any FileSystem) throws(LogError) {
        var writer = ByteWriter(reserving: TrustRecord.size)
        writer.append(TrustRecord.magic + id)
        for part in [fingerprint, command] {
            writer.append(part ?? [UInt8](repeating: 0, count: TrustRecord.partSize))
        }
        let folder = MemoryFolder(path: memoryFolder, fileSystem: files)
        do throws(Notice) {
            try MemoryFile(TrustRecord.name(id), in: folder).update(to: writer.bytes) { _ in true }
        } catch { throw LogError(.unavailable, "remember \(memoryFolder)/\(TrustRecord.name(id))") }
    }

    /// Returns the hash by which a command is remembered.
    package static func hash(ofCommand command: String) -> [UInt8] {
        let hash = command.utf8.span.bytes.withUnsafeBytes { try? KeyedHash.hash($0) }
        // It fails for no length.
        return Array((hash ?? [])[..<partSize])
    }

    private static func name(_ id: [UInt8]) -> String { "\(Hexadecimal.string(of: id)).trust" }

    private static func part(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        bytes.allSatisfy { $0 == 0 } ? nil : Array(bytes)
    }
}
