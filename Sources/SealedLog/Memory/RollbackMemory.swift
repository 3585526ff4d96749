import LinuxSystem
import Sealing

/// This machine's memory of a vault, stored outside the vault. Format.md, "The rollback memory", describes the files.
///
/// Each file is authenticated under the vault's memory subkey. A torn or missing file is treated as if nothing had been
/// seen, so it causes no rollback error. A file that exists but cannot be used is reported.
final class RollbackMemory: Sendable {
    let folder: MemoryFolder
    private let keyRing: Mutex<KeyRing>
    /// The memory subkeys of the vault's former data keys that have been added so far.
    private let formerKeys = Mutex<[[UInt8]]>([])
    let vaultID: [UInt8]
    let path: String
    /// Whether to remember several positions, since a tool such as git may restore an older version of the vault.
    let keepsHeads: Bool
    let notices = NoticeBoard()
    private let seenFile: MemoryFile
    let pathIsKnown = Atomic(false)
    private let holds = Atomic(false)
    /// The bytes of `.seen` that this process last read or wrote and has authenticated.
    private let authentic = Mutex<[UInt8]?>(nil)

    init(in folder: MemoryFolder, keys: KeyRing, vaultID: [UInt8], path: String, keepsHeads: Bool = false) {
        self.folder = folder
        self.vaultID = vaultID
        self.path = path
        self.keepsHeads = keepsHeads
        keyRing = Mutex(keys)
        seenFile = MemoryFile(RollbackMemory.seenName(vaultID), in: folder)
    }

    private var keys: KeyRing { keyRing.withLock { $0 } }

    /// Switches to the new keys after a rotation. Files authenticated under the former key stay valid until rewritten.
    func adopt(_ keys: KeyRing) {
        let former = keyRing.withLock { ring in exchange(&ring, with: keys) }
        add(formerKeys: [former.memoryKey])
    }

    func add(formerKeys keys: [[UInt8]]) { formerKeys.withLock { $0 += keys } }

    var addedFormerKeys: [[UInt8]] { formerKeys.withLock { $0 } }

    /// Whether positions and members (but no other files) are frozen, because the vault lacks something seen before.
    var isHeld: Bool { holds.load(ordering: .acquiring) }
    func hold() { holds.store(true, ordering: .releasing) }
    func release() { holds.store(false, ordering: .releasing) }

    /// The size of `.seen` and `.path` in bytes, without the checksum of `.seen`, which `checkedSize` includes.
    static let fileSize = 88
    private static let checkedSize = fileSize + 8

    /// Returns a notice for each of `.seen`, `.path` and `.upkeep` that exists but cannot be read or written.
    func problems() -> [Notice] {
        let found = NoticeBoard()
        for name in [RollbackMemory.seenName(vaultID), RollbackMemory.pathName(path), upkeepName] {
            _ = folder.read(name, size: RollbackMemory.fileSize, report: found.post)
        }
        return found.take()
    }

    // MARK: Authenticated files

    /// Returns a reader of the bytes between vault ID and authentication code; nil if the magic, ID or code is wrong.
    /// The code also authenticates `context`. Bytes beyond `size` are ignored: an in-place overwrite may leave some.
    func body(
        of bytes: [UInt8]?, magic: [UInt8], size: Int = RollbackMemory.fileSize, context: [UInt8] = []
    ) -> ByteReader? {
        guard let bytes, bytes.count >= size, bytes.starts(with: magic + vaultID) else { return nil }
        let checked = Array(bytes[..<(size - KeyedHash.size)])
        guard let code = try? keys.authenticate(checked + context, for: .memory),
            bytes[checked.count..<size].elementsEqual(code)
        else { return nil }
        return unchecked(bytes, size: size)
    }

    /// Reads a file that may have been written before a rotation of the data key.
    ///
    /// - Parameter formerKeys: the memory subkeys of the vault's former data keys.
    /// - Returns: the reader, and whether a former key authenticates the file. If so, the file must be rewritten.
    func body(
        of bytes: [UInt8], magic: [UInt8], size: Int, orUnder formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) -> (reader: ByteReader, isOfFormerKey: Bool)? {
        if let reader = body(of: bytes, magic: magic, size: size) { return (reader, false) }
        guard bytes.count >= size, bytes.starts(with: magic + vaultID) else { return nil }
        for key in try formerKeys() where isAuthentic(bytes, size: size, under: key) {
            return (unchecked(bytes, size: size), true)
        }
        return nil
    }

    func unchecked(_ bytes: [UInt8], size: Int = RollbackMemory.fileSize) -> ByteReader {
        // The magic at the start of each file is 8 bytes long.
        ByteReader(bytes, in: 8 + vaultID.count..<size - KeyedHash.size)
    }

    func read(_ name: String, size: Int = RollbackMemory.fileSize) -> [UInt8]? {
        folder.read(name, size: size, report: notices.post)
    }

    /// Writes a file if `isNeeded` returns true for its current bytes. Returns the new bytes with their authentication
    /// code, even if unwritten; nil on failure. A failed write posts a notice: rollbacks may go undetected.
    @discardableResult
    func update(
        _ file: MemoryFile, to bytes: [UInt8], context: [UInt8] = [], isChecked: Bool = false,
        isNeeded: ([UInt8]) -> Bool = { _ in true }
    ) -> [UInt8]? {
        guard let code = try? keys.authenticate(bytes + context, for: .memory) else { return nil }
        var writer = ByteWriter(reserving: RollbackMemory.checkedSize)
        writer.append(bytes + code)
        if isChecked { writer.integer(RollbackMemory.checksum(writer.bytes)) }
        return change(file, size: writer.count) { isNeeded($0) ? writer.bytes : nil } ? bytes + code : nil
    }

    /// Replaces a file's bytes with the result of `change` and an authentication code, unless the result is nil.
    func update(_ file: MemoryFile, size: Int, _ change: ([UInt8]) -> [UInt8]?) {
        _ = self.change(file, size: size) { old in
            change(old).flatMap { bytes in (try? keys.authenticate(bytes, for: .memory)).map { bytes + $0 } }
        }
    }

    private func change(_ file: MemoryFile, size: Int, _ change: ([UInt8]) -> [UInt8]?) -> Bool {
        do { try file.update(size, change) } catch {
            notices.post(error)
            return false
        }
        return true
    }
}

// MARK: - The newest position

extension RollbackMemory {
    private static let seenMagic: [UInt8] = Array("vltseen1".utf8)

    private static func seenName(_ vaultID: [UInt8]) -> String { "\(Hexadecimal.string(of: vaultID)).seen" }

    struct Seen: Hashable, Sendable {
        let position: LogPosition
        /// Whether the record's writer has flushed the record. A flush by a reader proves nothing: after a failed
        /// flush, Linux treats cached bytes as clean even if they never reached the disk.
        let isFlushedByWriter: Bool
    }

    func seen() -> Seen? { seen(in: newest()) }

    /// Returns the bytes of the newest position, for ``seen(in:under:_:)``; nil if none are stored.
    func newest() -> [UInt8]? { seenFile.read(RollbackMemory.checkedSize, report: notices.post) }

    /// Decodes the bytes of ``newest()``. Returns nil if no current or former key authenticates them.
    func seen(in bytes: [UInt8]?) -> Seen? {
        guard let bytes = bytes.map({ Array($0.prefix(RollbackMemory.fileSize)) }) else { return nil }
        // Usually, these are the bytes that this process last authenticated or wrote, so they are not checked again.
        let isKnown = authentic.withLock { $0 == bytes }
        let body =
            isKnown ? unchecked(bytes) : body(of: bytes, magic: RollbackMemory.seenMagic) ?? formerBody(of: bytes)
        guard let seen = body.flatMap(position) else { return nil }
        if !isKnown { authentic.withLock { $0 = bytes } }
        return seen
    }

    private func formerBody(of bytes: [UInt8]) -> ByteReader? {
        guard bytes.count >= RollbackMemory.fileSize, bytes.starts(with: RollbackMemory.seenMagic + vaultID),
            addedFormerKeys.contains(where: { isAuthentic(bytes, under: $0) })
        else { return nil }
        return unchecked(bytes)
    }

    private func position(in body: ByteReader) -> Seen? {
        var reader = body
        guard let sequence: UInt64 = try? reader.integer(), let authenticator = try? reader.authenticator(),
            let isFlushed: UInt64 = try? reader.integer()
        else { return nil }
        return Seen(
            position: LogPosition(sequence: sequence, authenticator: authenticator), isFlushedByWriter: isFlushed == 1)
    }

    /// Remembers a log position if it is newer than the stored one, or the same but now flushed by its writer.
    ///
    /// - Parameter previous: the position that the writer had read before it wrote.
    func remember(
        _ position: LogPosition, following previous: LogPosition? = nil, isFlushedByWriter isFlushed: Bool = true
    ) {
        // The stored position may predate the list of heads, so it is added too, before it can be overwritten.
        if keepsHeads, !isHeld { add(heads: [previous, seen()?.position, position].compactMap { $0 }) }
        write(position, isFlushed) { old, _ in
            guard let old else { return true }
            return old.position.sequence < position.sequence
                || (old.position == position && isFlushed && !old.isFlushedByWriter)
        }
    }

    /// Replaces the position that ``newest()`` returned. Returns false if the file has changed in the meantime.
    func remember(_ position: LogPosition, insteadOf former: [UInt8]) -> Bool {
        let old = seen()?.position
        let isKept = keepsHeads && !isHeld
        var isOther = false
        write(position, true, isForced: true) { _, bytes in
            isOther = bytes != former
            return !isOther
        }
        // Git may restore the old version later. That looks like a rollback unless its last position is stored.
        if !isOther, isKept { add(heads: [old, position].compactMap { $0 }) }
        return !isOther
    }

    private func write(
        _ position: LogPosition, _ isFlushed: Bool, isForced: Bool = false,
        isNeeded: (_ old: Seen?, _ bytes: [UInt8]) -> Bool
    ) {
        guard !isHeld else { return }
        var file = ByteWriter(reserving: RollbackMemory.fileSize)
        file.append(RollbackMemory.seenMagic + vaultID)
        file.integer(position.sequence)
        file.authenticator(position.authenticator)
        file.integer(UInt64(isFlushed ? 1 : 0))
        let bytes = update(seenFile, to: file.bytes, isChecked: true) { bytes in
            let old = seen(in: bytes)
            // A complete file that no known key authenticates postdates a rotation, and is kept unless `isForced`.
            return (old != nil || isForced || !RollbackMemory.isWhole(bytes)) && isNeeded(old, bytes)
        }
        guard let bytes else { return }
        authentic.withLock { $0 = bytes }
    }
}

// MARK: - After a rotation

extension RollbackMemory {
    /// Returns a vault's remembered position, even if it was stored before a rotation of the data key.
    ///
    /// - Parameters:
    ///   - bytes: the bytes of ``newest()``.
    ///   - vaultKeys: the vault's keys, which may have been rotated since this object received its keys.
    ///   - formerKeys: the memory subkeys of the vault's former data keys.
    /// - Throws: `rolledBack` if the bytes are complete but no key authenticates them; any error of `formerKeys`.
    func seen(
        in bytes: [UInt8], under vaultKeys: KeyRing, _ formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) -> Seen? {
        if vaultKeys === keys, let seen = seen(in: bytes) { return seen }
        guard bytes.count >= RollbackMemory.fileSize, bytes.starts(with: RollbackMemory.seenMagic + vaultID) else {
            return nil
        }
        if isAuthentic(bytes, under: vaultKeys.memoryKey) { return position(in: unchecked(bytes)) }
        guard RollbackMemory.isWhole(bytes) else { return nil }
        for key in try formerKeys() where isAuthentic(bytes, under: key) { return position(in: unchecked(bytes)) }
        throw LogError(.rolledBack, "a point before its data key was rotated, and this machine has seen that rotation")
    }

    /// Returns whether a `.seen` file was written completely, according to its checksum, which needs no key.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= checkedSize, bytes.starts(with: seenMagic) else { return false }
        var reader = ByteReader(bytes, in: fileSize..<checkedSize)
        return (try? reader.integer()) == checksum(Array(bytes[..<fileSize]))
    }

    func isAuthentic(
        _ bytes: [UInt8], size: Int = RollbackMemory.fileSize, under key: [UInt8], context: [UInt8] = []
    ) -> Bool {
        let checked = Array(bytes[..<(size - KeyedHash.size)])
        let code = try? (checked + context).withRawBytes { bytes in
            try key.withRawBytes { key in try KeyedHash.hash(bytes, key: key) }
        }
        return code.map { bytes[checked.count..<size].elementsEqual($0) } ?? false
    }
}

// MARK: - Checks that need no key

extension RollbackMemory {
    static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Authenticator.size)
        // Hashing cannot fail, because the output has a valid length.
        try? bytes.withUnsafeBytes { bytes in try hash.withUnsafeMutableBytes { try KeyedHash.hash(bytes, into: $0) } }
        return hash
    }

    static func checksum(_ bytes: [UInt8]) -> UInt64 {
        let key = [UInt8](repeating: 0, count: ShortHash.keySize)
        // Hashing cannot fail, because the key has the required length.
        return (try? bytes.withUnsafeBytes { bytes in try key.withUnsafeBytes { try ShortHash.hash(bytes, key: $0) } })
            ?? 0
    }
}
