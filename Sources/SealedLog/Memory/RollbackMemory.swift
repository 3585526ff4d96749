import Sealing

/// What this machine remembers of a vault, outside the vault: how far it had come, and which vault lay at a path.
///
/// Two small files in a folder of their own. `<vault id>.seen` holds the highest moment; `<hash of the path>.path` holds
/// the id of the vault last opened there, and the mark of the file whose name is known to be durable. Both are authenticated under
/// the vault's own subkey. What is torn, missing or not readable counts as no memory: losing it is never an alarm.
struct RollbackMemory: Sendable {
    let folder: String
    let fileSystem: any FileSystem
    let keys: KeyRing
    let vaultID: [UInt8]
    let path: String

    private static let seenMagic: [UInt8] = Array("vltseen1".utf8)
    static let pathMagic: [UInt8] = Array("vltpath1".utf8)
    static let codeSize = 32
    /// Of either file: magic, id, 24 bytes, code.
    static let fileSize = 80

    private var seenPath: String { "\(folder)/\(RollbackMemory.hexadecimal(vaultID)).seen" }

    var pathPath: String { RollbackMemory.file(for: path, in: folder) }

    static func file(for path: String, in folder: String) -> String {
        var hash = [UInt8](repeating: 0, count: 16)
        // The lengths are right, so it cannot fail.
        try? Array(path.utf8).withUnsafeBytes { path in
            try hash.withUnsafeMutableBytes { try KeyedHash.hash(path, into: $0) }
        }
        return "\(folder)/\(hexadecimal(hash)).path"
    }

    static func rememberedVault(at path: String, folder: String, in fileSystem: any FileSystem) -> String? {
        guard let file = try? fileSystem.open(Self.file(for: path, in: folder), .read) else { return nil }
        return contents(of: file, in: fileSystem).flatMap(vaultID(inPathFile:)).map(hexadecimal)
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        var digits = [UInt8](repeating: 0, count: bytes.count * 2)
        bytes.withRawBytes { bytes in
            digits.withMutableRawBytes { digits in
                // The length is right, so it cannot fail. Number formatting would cost a process 50 µs at its start.
                try? Hexadecimal.encode(bytes, into: digits)
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The highest moment that is remembered; nil without memory.
    func seen() -> Moment? {
        read(seenPath).flatMap(parseSeen)
    }

    private func parseSeen(_ bytes: [UInt8]) -> Moment? {
        guard let body = authentic(bytes, magic: RollbackMemory.seenMagic, context: []) else { return nil }
        var reader = ByteReader(body)
        guard let id = try? reader.array(Header.identifierSize), id == vaultID,
            let sequence: UInt64 = try? reader.integer(),
            let authenticator = try? reader.authenticator()
        else { return nil }
        return Moment(sequence: sequence, authenticator: authenticator)
    }

    /// Remembers a moment that is known to be durable, if it is higher than the one remembered.
    ///
    /// - Parameter isForced: also if it is lower: the person has accepted the vault as it is.
    func remember(_ moment: Moment, isForced: Bool = false) throws(SystemError) {
        var body = ByteWriter(reserving: 80)
        body.append(vaultID)
        body.integer(moment.sequence)
        body.authenticator(moment.authenticator)
        try update(seenPath, magic: RollbackMemory.seenMagic, context: [], body: body.bytes) { old in
            isForced || (parseSeen(old).map { $0.sequence < moment.sequence } ?? true)
        }
    }
}
