import LinuxSystem
import Sealing

/// The record of a vault on this machine, outside of the vault; Format.md, "The rollback memory", describes the files.
///
/// All files are authenticated under the vault's memory subkey. A torn or missing file counts as no memory: its loss is
/// never an alarm. A file that exists but cannot be used is reported.
final class RollbackMemory: Sendable {
    let folder: MemoryFolder
    /// The vault's keys. A rotation replaces them.
    private let keyRing: Mutex<KeyRing>
    /// The memory subkeys of former data keys, as far as they were needed.
    private let formerKeys = Mutex<[[UInt8]]>([])
    let vaultID: [UInt8]
    let path: String
    /// Whether the file at the path is replaced by others that this machine has seen, as git does.
    let keepsHeads: Bool
    let notices = NoticeBoard()
    private let seenFile: MemoryFile
    let pathIsKnown = Atomic(false)
    private let holds = Atomic(false)
    /// The bytes of `.seen` when it was last read or written, if they were authentic.
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

    /// Uses other keys from now on, after a rotation. Files under the former key count until they are written again.
    func adopt(_ keys: KeyRing) {
        let former = keyRing.withLock { ring in exchange(&ring, with: keys) }
        add(formerKeys: [former.memoryKey])
    }

    func add(formerKeys keys: [[UInt8]]) { formerKeys.withLock { $0 += keys } }

    var addedFormerKeys: [[UInt8]] { formerKeys.withLock { $0 } }

    /// Whether positions and members are not remembered, because the vault lacks something that was seen before.
    var isHeld: Bool { holds.load(ordering: .acquiring) }
    func hold() { holds.store(true, ordering: .releasing) }
    func release() { holds.store(false, ordering: .releasing) }

    /// The size of `.seen` and `.path` in bytes, and of `.seen` with its check.
    static let fileSize = 88
    private static let checkedSize = fileSize + 8

    /// Returns the files of the memory that exist but cannot be read or written.
    func problems() -> [Notice] {
        let found = NoticeBoard()
        for name in [RollbackMemory.seenName(vaultID), RollbackMemory.pathName(path), upkeepName] {
            _ = folder.read(name, size: RollbackMemory.fileSize, report: found.post)
        }
        return found.take()
    }

    // MARK: Authenticated files

    /// Returns a reader of the bytes between the vault ID and the code, if magic, ID and code are right. `context` is
    /// authenticated together with the file. Bytes of a longer, older file may follow after `size`, since files are
    /// written in place.
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

    /// Reads a file that may be from before a rotation of the data key.
    ///
    /// - Parameter formerKeys: the memory subkeys of the vault's former data keys.
    /// - Returns: also whether a former key authenticates the file, which then has to be written again.
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
        // Every magic has 8 bytes.
        ByteReader(bytes, in: 8 + vaultID.count..<size - KeyedHash.size)
    }

    func read(_ name: String, size: Int = RollbackMemory.fileSize) -> [UInt8]? {
        folder.read(name, size: size, report: notices.post)
    }

    /// Writes a file and returns its authentic bytes. A failure posts a notice; an older vault may then pass unnoticed.
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

    /// Replaces a file by the result of `change`, applied to its present bytes, unless that is nil.
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
        /// Whether the writer of the record has flushed it. The flush of a reader does not prove that: after a failed
        /// flush, Linux regards pages as clean that never reached the disk.
        let isFlushedByWriter: Bool
    }

    func seen() -> Seen? { seen(in: newest()) }

    /// Returns the bytes of the newest position, for ``seen(in:under:_:)``; nil if there are none.
    func newest() -> [UInt8]? { seenFile.read(RollbackMemory.checkedSize, report: notices.post) }

    /// Decodes the bytes of ``newest()``; nil unless this memory's key or a former one authenticates them.
    func seen(in bytes: [UInt8]?) -> Seen? {
        guard let bytes = bytes.map({ Array($0.prefix(RollbackMemory.fileSize)) }) else { return nil }
        // Most often they are the bytes that were written or read last.
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

    /// Remembers a position if it is newer than the remembered one, or if its writer has flushed it now.
    ///
    /// - Parameter previous: the position that the writer had read before.
    func remember(
        _ position: LogPosition, following previous: LogPosition? = nil, isFlushedByWriter isFlushed: Bool = true
    ) {
        // The position that is about to be overwritten is added too: it may be from before heads were kept.
        if keepsHeads, !isHeld { add(heads: [previous, seen()?.position, position].compactMap { $0 }) }
        write(position, isFlushed) { old, _ in
            guard let old else { return true }
            return old.position.sequence < position.sequence
                || (old.position == position && isFlushed && !old.isFlushedByWriter)
        }
    }

    /// Remembers a position instead of the one that ``newest()`` has returned. Returns false if the file has changed.
    func remember(_ position: LogPosition, insteadOf former: [UInt8]) -> Bool {
        let old = seen()?.position
        let isKept = keepsHeads && !isHeld
        var isOther = false
        write(position, true, isForced: true) { _, bytes in
            isOther = bytes != former
            return !isOther
        }
        // Without its head, this position would raise an alarm later.
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
            // A file that an unknown data key authenticates is later than this vault.
            return (old != nil || isForced || !RollbackMemory.isWhole(bytes)) && isNeeded(old, bytes)
        }
        guard let bytes else { return }
        authentic.withLock { $0 = bytes }
    }
}

// MARK: - After a rotation

extension RollbackMemory {
    /// Returns the remembered position of a vault, even if it is from before a rotation of the data key.
    ///
    /// - Parameters:
    ///   - bytes: the bytes of ``newest()``.
    ///   - vaultKeys: the vault's keys, which may have been rotated since this memory got its own.
    ///   - formerKeys: the memory subkeys of the vault's former data keys.
    /// - Throws: `rolledBack` if another data key authenticates the bytes; any error of `formerKeys`.
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
        throw LogError(.rolledBack, "a time before its data key was rotated, as this machine has seen it")
    }

    /// Returns whether a file of the newest position was written completely, by the check that needs no key.
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
        // It cannot fail, since the length is right.
        try? bytes.withUnsafeBytes { bytes in try hash.withUnsafeMutableBytes { try KeyedHash.hash(bytes, into: $0) } }
        return hash
    }

    static func checksum(_ bytes: [UInt8]) -> UInt64 {
        let key = [UInt8](repeating: 0, count: ShortHash.keySize)
        // It cannot fail, since the key has the right length.
        return (try? bytes.withUnsafeBytes { bytes in try key.withUnsafeBytes { try ShortHash.hash(bytes, key: $0) } })
            ?? 0
    }
}
