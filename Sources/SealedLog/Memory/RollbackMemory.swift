import LinuxSystem
import Sealing

/// What this machine remembers of a vault, outside the vault; Format.md, "The rollback memory", describes the files.
///
/// All are authenticated under the vault's own subkey. A file that is torn or missing counts as no memory: losing it is
/// never an alarm. A file that exists and cannot be used is reported.
final class RollbackMemory: Sendable {
    let folder: MemoryFolder
    /// A rotation exchanges them.
    private let keyRing: Mutex<KeyRing>
    /// The memory subkeys of former data keys, as far as they are needed.
    private let formerKeys = Mutex<[[UInt8]]>([])
    let vaultID: [UInt8]
    /// The path of the vault.
    let path: String
    /// Whether the file at the path is exchanged for others that this machine has seen, as git does.
    let keepsHeads: Bool
    let notices = NoticeBoard()
    private let seenFile: MemoryFile
    let pathIsKnown = Atomic(false)
    private let holds = Atomic(false)
    /// What `.seen` held when it was last read or written, if it was authentic.
    private let authentic = Mutex<[UInt8]?>(nil)

    init(in folder: MemoryFolder, keys: KeyRing, vaultID: [UInt8], path: String, keepsHeads: Bool = false) {
        (self.folder, self.vaultID, self.path, self.keepsHeads) = (folder, vaultID, path, keepsHeads)
        keyRing = Mutex(keys)
        seenFile = MemoryFile(RollbackMemory.seenName(vaultID), in: folder)
    }

    private var keys: KeyRing { keyRing.withLock { $0 } }

    /// Authenticates with other keys from now on: the data key has been rotated. What is remembered already counts
    /// until it is written again.
    func adopt(_ keys: KeyRing) {
        let former = keyRing.withLock { ring in exchange(&ring, with: keys) }
        learn(formerKeys: [former.memoryKey])
    }

    /// Learns the memory subkeys of former data keys of the vault.
    func learn(formerKeys keys: [[UInt8]]) { formerKeys.withLock { $0 += keys } }

    var learnedKeys: [[UInt8]] { formerKeys.withLock { $0 } }

    /// Whether positions and members are not remembered, since the vault lacks what was seen before.
    var isHeld: Bool { holds.load(ordering: .acquiring) }
    func hold() { holds.store(true, ordering: .releasing) }
    func release() { holds.store(false, ordering: .releasing) }

    /// The size of `.seen` and `.path`, in bytes, and of `.seen` with its check.
    static let fileSize = 88
    private static let checkedSize = fileSize + 8

    /// Returns the first part of the memory that exists and cannot be read or written; none if there is none.
    func problems() -> [Notice] {
        let found = NoticeBoard()
        for name in [RollbackMemory.seenName(vaultID), RollbackMemory.pathName(path), upkeepName] {
            _ = folder.read(name, size: RollbackMemory.fileSize, report: found.post)
        }
        return found.take()
    }

    // MARK: Authenticated files

    /// Returns a reader of what is between the vault's id and the code of a file, if magic, id and code are right.
    /// Bytes of an older file may follow its `size`, since it is written in place. `context` is authenticated with it.
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

    /// Does the same for a file that may be from before a rotation of the data key.
    ///
    /// - Parameter formerKeys: the memory subkeys of the vault's former data keys.
    /// - Returns: also whether one of these authenticates it, so that it has to be written anew.
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

    /// Writes a file, and returns what is authentic then. If that fails, it only posts a notice: an older vault may
    /// then pass unnoticed.
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

    /// Does the same with what `change` makes of the file's present bytes; nothing for nil.
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
        /// Whether its writer has flushed it. A reader that flushes what it returns cannot know that: after a failed
        /// flush, Linux regards pages as clean that never reached the disk.
        let isFlushedByWriter: Bool
    }

    func seen() -> Seen? { seen(in: newest()) }

    /// Returns what is remembered of the newest position, for ``seen(in:under:_:)``; nil if nothing is.
    func newest() -> [UInt8]? { seenFile.read(RollbackMemory.checkedSize, report: notices.post) }

    /// Returns what the bytes of ``newest()`` say, if this memory's key or an earlier one authenticates them.
    func seen(in bytes: [UInt8]?) -> Seen? {
        guard let bytes = bytes.map({ Array($0.prefix(RollbackMemory.fileSize)) }) else { return nil }
        // Most often they are those that were written last.
        let isKnown = authentic.withLock { $0 == bytes }
        let body =
            isKnown ? unchecked(bytes) : body(of: bytes, magic: RollbackMemory.seenMagic) ?? formerBody(of: bytes)
        guard let seen = body.flatMap(position) else { return nil }
        if !isKnown { authentic.withLock { $0 = bytes } }
        return seen
    }

    private func formerBody(of bytes: [UInt8]) -> ByteReader? {
        guard bytes.count >= RollbackMemory.fileSize, bytes.starts(with: RollbackMemory.seenMagic + vaultID),
            learnedKeys.contains(where: { isAuthentic(bytes, under: $0) })
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
    /// - Parameter previous: what a writer has read before.
    func remember(
        _ position: LogPosition, following previous: LogPosition? = nil, isFlushedByWriter isFlushed: Bool = true
    ) {
        // Also the one that is about to be forgotten: it may be from before heads were kept.
        if keepsHeads, !isHeld { add(heads: [previous, seen()?.position, position].compactMap { $0 }) }
        write(position, isFlushed) { old, _ in
            guard let old else { return true }
            return old.position.sequence < position.sequence
                || (old.position == position && isFlushed && !old.isFlushedByWriter)
        }
    }

    /// Remembers a position instead of what ``newest()`` has returned. Returns false if something else is remembered.
    func remember(_ position: LogPosition, insteadOf former: [UInt8]) -> Bool {
        let (old, isKept) = (seen()?.position, keepsHeads && !isHeld)
        var isOther = false
        write(position, true, isForced: true) { _, bytes in
            isOther = bytes != former
            return !isOther
        }
        // Otherwise this position would be no alarm.
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
            // One that an unknown data key authenticates is later than this vault.
            return (old != nil || isForced || !RollbackMemory.isWhole(bytes)) && isNeeded(old, bytes)
        }
        guard let bytes else { return }
        authentic.withLock { $0 = bytes }
    }
}

// MARK: - After a rotation

extension RollbackMemory {
    /// Returns the position that was remembered of a vault, also if that was before its data key was rotated.
    ///
    /// - Parameters:
    ///   - bytes: those of ``newest()``.
    ///   - vaultKeys: the vault's, which may have been rotated since this memory got its own.
    ///   - formerKeys: the memory subkeys of the vault's former data keys.
    /// - Throws: `rolledBack` if another data key authenticates the bytes; what `formerKeys` throws.
    func seen(
        in bytes: [UInt8], under vaultKeys: KeyRing, _ formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) -> Seen? {
        if vaultKeys === keys, let seen = seen(in: bytes) { return seen }
        guard bytes.count >= RollbackMemory.fileSize, bytes.starts(with: RollbackMemory.seenMagic + vaultID) else {
            return nil
        }
        if isAuthentic(bytes, under: vaultKeys.memoryKey) { return position(in: unchecked(bytes)) }
        guard RollbackMemory.isWhole(bytes) else { return nil }
        for key in try formerKeys() where isAuthentic(bytes, under: key) {
            return position(in: unchecked(bytes))
        }
        throw LogError(.rolledBack, "a time before its data key was rotated, as this machine has seen it")
    }

    /// Whether a file of the newest position was written completely, by the check that needs no key.
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
        // The length is right, so it cannot fail.
        try? bytes.withUnsafeBytes { bytes in try hash.withUnsafeMutableBytes { try KeyedHash.hash(bytes, into: $0) } }
        return hash
    }

    static func checksum(_ bytes: [UInt8]) -> UInt64 {
        let key = [UInt8](repeating: 0, count: ShortHash.keySize)
        // The key has the right length, so it cannot fail.
        return (try? bytes.withUnsafeBytes { bytes in try key.withUnsafeBytes { try ShortHash.hash(bytes, key: $0) } })
            ?? 0
    }
}
