package import LinuxSystem
import Sealing

/// A vault's accepted fingerprint and key commands, read before it is opened. See Format.md, "The rollback memory".
///
/// No vault key authenticates the record, because it decides which vaults may be opened at all. As with every file of
/// the rollback memory, the record is used only if no other user could have written it.
package struct TrustRecord: Hashable, Sendable {
    /// The vault's fingerprint, 16 bytes; nil if unknown.
    package var fingerprint: [UInt8]?
    /// The 16-byte hashes of the commands that may be run to obtain a key, oldest first.
    private var commands: [[UInt8]] = []

    private static let magic = Array("vlttrst1".utf8)
    private static let partSize = 16
    private static let size = magic.count + Header.identifierSize + (1 + Limits.slotCount) * partSize

    package init() {}

    package func allows(command: String) -> Bool { commands.contains(TrustRecord.hash(ofCommand: command)) }

    /// Allows a command to be run. Keeps at most as many commands as a vault can have keys, dropping the oldest.
    package mutating func allow(command: String) {
        let hash = TrustRecord.hash(ofCommand: command)
        guard !commands.contains(hash) else { return }
        commands = Array((commands + [hash]).suffix(Limits.slotCount))
    }

    private static func hash(ofCommand command: String) -> [UInt8] {
        let hash = command.utf8.span.bytes.withUnsafeBytes { try? KeyedHash.hash($0) }
        // Hashing cannot fail, because any input length is allowed.
        return Array((hash ?? [])[..<partSize])
    }
}

extension TrustRecord {
    /// Reads a vault's record. Returns an empty record if the file is missing or torn. Throws a notice if the file
    /// cannot be used: a file that another user wrote could make this process run any command.
    package static func read(
        ofVault id: [UInt8], memoryFolder: String?, in files: any FileSystem
    ) throws(Notice) -> TrustRecord {
        guard let memoryFolder else { return TrustRecord() }
        let folder = MemoryFolder(path: memoryFolder, fileSystem: files)
        var refusal: Notice?
        let bytes = folder.read(name(id), size: size) { notice in refusal = refusal ?? notice }
        // If the file could be read, a notice is ignored, since it may only mean that the file cannot be written.
        if bytes == nil, let refusal { throw refusal }
        return TrustRecord(parsing: bytes, ofVault: id)
    }

    /// Changes a vault's trust record while no other process can change it. Throws a notice on failure.
    ///
    /// - Parameter flush: flushes the vault before the record is written. It is called only if the record changes.
    package static func update(
        ofVault id: [UInt8], memoryFolder: String, in files: any FileSystem,
        behind flush: () throws(LogError) -> Void = {}, _ change: (inout TrustRecord) -> Void
    ) throws(Notice) {
        // Usually the record does not change, and nothing is written, so a read-only folder causes no error.
        let known = try read(ofVault: id, memoryFolder: memoryFolder, in: files)
        var changed = known
        change(&changed)
        guard changed != known else { return }
        do throws(LogError) { try flush() } catch {
            throw .memoryUnusable("\(error.detail): \(SystemError.message(for: error.systemError ?? 0))")
        }
        let folder = MemoryFolder(path: memoryFolder, fileSystem: files)
        try MemoryFile(name(id), in: folder).update(size) { bytes in
            var record = TrustRecord(parsing: bytes, ofVault: id)
            change(&record)
            return record.encoded(ofVault: id)
        }
    }

    private init(parsing bytes: [UInt8]?, ofVault id: [UInt8]) {
        guard let bytes, bytes.count >= TrustRecord.size, bytes.starts(with: TrustRecord.magic + id) else { return }
        let start = TrustRecord.magic.count + id.count
        let parts = stride(from: start, to: TrustRecord.size, by: TrustRecord.partSize).map { offset in
            Array(bytes[offset..<offset + TrustRecord.partSize])
        }
        let isKnown: ([UInt8]) -> Bool = { part in part.contains { $0 != 0 } }
        fingerprint = parts.first.flatMap { isKnown($0) ? $0 : nil }
        commands = parts.dropFirst().filter(isKnown)
    }

    private func encoded(ofVault id: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(reserving: TrustRecord.size)
        writer.append(TrustRecord.magic + id)
        writer.append(fingerprint ?? [UInt8](repeating: 0, count: TrustRecord.partSize))
        for command in commands { writer.append(command) }
        writer.zeros(TrustRecord.size - writer.count)
        return writer.bytes
    }

    private static func name(_ id: [UInt8]) -> String { "\(Hexadecimal.string(of: id)).trust" }
}
