import Sealing
import Synchronization

// The log positions last seen in a vault that is stored in git. See Format.md, "The rollback memory".

extension RollbackMemory {
    private static let headsMagic: [UInt8] = Array("vltheads".utf8)
    private static let positionSize = 8 + Authenticator.size
    /// The size of the file: its magic, vault ID, count, positions and authentication code.
    private static let headsSize = 8 + 16 + 8 + Limits.seenHeads * positionSize + KeyedHash.size
    private var headsName: String { "\(Hexadecimal.string(of: vaultID)).heads" }

    /// Returns the vault's last seen positions, oldest first. The result is empty unless ``keepsHeads`` is true.
    ///
    /// - Parameter formerKeys: the memory subkeys of the vault's former data keys.
    func heads(_ formerKeys: () throws(LogError) -> [[UInt8]]) throws(LogError) -> [LogPosition] {
        keepsHeads ? try keptHeads(formerKeys) : []
    }

    /// Returns the stored log positions. If ``keepsHeads`` is false, none are added any more, but older ones remain.
    func keptHeads(_ formerKeys: () throws(LogError) -> [[UInt8]]) throws(LogError) -> [LogPosition] {
        guard let bytes = read(headsName, size: RollbackMemory.headsSize) else { return [] }
        return try heads(in: bytes, formerKeys)
    }

    private func heads(
        in bytes: [UInt8], _ formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) -> [LogPosition] {
        guard
            var reader = try body(
                of: bytes, magic: RollbackMemory.headsMagic, size: RollbackMemory.headsSize, orUnder: formerKeys
            )?.reader, let count: UInt64 = try? reader.integer(), count <= UInt64(Limits.seenHeads)
        else { return [] }
        return (0..<count).compactMap { _ in
            guard let sequence: UInt64 = try? reader.integer(), let authenticator = try? reader.authenticator() else {
                return nil
            }
            return LogPosition(sequence: sequence, authenticator: authenticator)
        }
    }

    /// Adds log positions as the newest ones. If there are then too many, drops the oldest ones.
    func add(heads new: [LogPosition]) {
        let magic = RollbackMemory.headsMagic + vaultID
        update(MemoryFile(headsName, in: folder), size: RollbackMemory.headsSize) { old in
            let known = (try? heads(in: old) { () throws(LogError) in addedFormerKeys }) ?? []
            guard known.last != new.last else { return nil }
            var all = known
            for position in new { all = all.filter { $0 != position } + [position] }
            let kept = all.suffix(Limits.seenHeads)
            var file = ByteWriter(reserving: RollbackMemory.headsSize)
            file.append(magic)
            file.integer(UInt64(kept.count))
            for position in kept {
                file.integer(position.sequence)
                file.authenticator(position.authenticator)
            }
            file.zeros((Limits.seenHeads - kept.count) * RollbackMemory.positionSize)
            return file.bytes
        }
    }
}

// This extension remembers which vault was last opened at a path.

extension RollbackMemory {
    private static let pathMagic: [UInt8] = Array("vltpath1".utf8)

    static func pathName(_ path: String) -> String { "\(Hexadecimal.string(of: hash(Array(path.utf8)))).path" }

    /// The rollback memory's record of the vault that was last opened at a path.
    struct PathRecord: Hashable, Sendable {
        let vaultID: [UInt8]
        /// The fingerprint of the file whose directory entry has been flushed; nil if the record is for another vault.
        let durable: Authenticator?
    }

    func pathRecord() -> PathRecord? {
        guard let bytes = read(RollbackMemory.pathName(path)), let id = RollbackMemory.vaultID(inPathFile: bytes)
        else { return nil }
        // A record for another vault can be verified only with that vault's key, so only the vault ID is used.
        guard id == vaultID else { return PathRecord(vaultID: id, durable: nil) }
        pathIsKnown.store(true, ordering: .relaxed)
        var reader = body(of: bytes, magic: RollbackMemory.pathMagic, context: Array(path.utf8))
        return (try? reader?.authenticator()).map { PathRecord(vaultID: id, durable: $0) }
    }

    /// Writes the ``PathRecord``. `durable` is the fingerprint of the file whose directory entry was flushed, if known.
    func rememberPath(durable: Authenticator?) {
        var file = ByteWriter(reserving: RollbackMemory.fileSize)
        file.append(RollbackMemory.pathMagic + vaultID)
        if let durable { file.authenticator(durable) } else { file.zeros(Authenticator.size) }
        file.integer(RollbackMemory.checksum(file.bytes))
        file.zeros(8)
        update(MemoryFile(RollbackMemory.pathName(path), in: folder), to: file.bytes, context: Array(path.utf8))
        pathIsKnown.store(true, ordering: .relaxed)
    }

    /// Whether this object has found this vault's ID in the ``PathRecord``, or has tried to store it there.
    var knowsPath: Bool { pathIsKnown.load(ordering: .relaxed) }

    static func remembersVault(at path: String, in folder: MemoryFolder) -> Bool {
        folder.read(pathName(path), size: fileSize) { _ in }.flatMap(vaultID(inPathFile:)) != nil
    }

    /// Returns the vault ID in a ``PathRecord`` if the checksum matches. Nothing else can be checked without a key.
    private static func vaultID(inPathFile bytes: [UInt8]) -> [UInt8]? {
        let checked = pathMagic.count + Header.identifierSize + Authenticator.size
        guard bytes.count >= fileSize, bytes.starts(with: pathMagic) else { return nil }
        var reader = ByteReader(bytes, in: checked..<bytes.count)
        guard let sum: UInt64 = try? reader.integer(), sum == checksum(Array(bytes[..<checked])) else { return nil }
        return Array(bytes[pathMagic.count..<pathMagic.count + Header.identifierSize])
    }

    /// Returns a fingerprint of a file's checkpoint and location. The location distinguishes copies of a vault.
    func fingerprint(of file: CheckpointFile, _ locationState: [UInt8]?) -> Authenticator? {
        guard let locationState else { return nil }
        var writer = ByteWriter(reserving: 64)
        writer.authenticator(file.origin)
        writer.append(locationState)
        return RollbackMemory.hash(writer.bytes).withUnsafeBytes { Authenticator($0) }
    }
}

/// A file's identity together with its checkpoint. The identity alone is not enough, since overwriting a file in place
/// does not change its identity.
struct CheckpointFile: Hashable, Sendable {
    let origin: Authenticator
    let identity: RecordStoreIdentity
}

// The members that this machine has seen. See Format.md, "The rollback memory".

extension RollbackMemory {
    private static let membersMagic: [UInt8] = Array("vltmemb1".utf8)
    private static let landmarkLimit = 128
    /// The size of the file: its magic, vault ID, count, landmarks and authentication code.
    private static let membersSize = 8 + 16 + 8 + landmarkLimit * Authenticator.size + KeyedHash.size
    private var membersName: String { "\(Hexadecimal.string(of: vaultID)).members" }

    /// Returns the ``MemberList/landmarks`` that this machine has seen.
    ///
    /// - Parameter formerKeys: the memory subkeys of the vault's former data keys.
    /// - Returns: the landmarks, and whether a former key authenticates the file. If so, the file must be rewritten.
    func members(
        _ formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) -> (landmarks: [Authenticator], isOfFormerKey: Bool) {
        try members(in: read(membersName, size: RollbackMemory.membersSize) ?? [], formerKeys)
    }

    private func members(
        in bytes: [UInt8], _ formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) -> (landmarks: [Authenticator], isOfFormerKey: Bool) {
        guard
            var found = try body(
                of: bytes, magic: RollbackMemory.membersMagic, size: RollbackMemory.membersSize, orUnder: formerKeys),
            let count: UInt64 = try? found.reader.integer(), count <= UInt64(RollbackMemory.landmarkLimit)
        else { return ([], false) }
        return ((0..<count).compactMap { _ in try? found.reader.authenticator() }, found.isOfFormerKey)
    }

    /// Remembers the first and the newest landmarks. Unless `isForced`, does nothing if `landmarks` lacks a stored one.
    ///
    /// - Parameter isForced: whether the user has accepted that previously seen landmarks are missing.
    func remember(
        members landmarks: [Authenticator], isForced: Bool, _ formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) {
        let formerKeys = try formerKeys()
        let kept = landmarks.prefix(1) + landmarks.dropFirst().suffix(RollbackMemory.landmarkLimit - 1)
        var file = ByteWriter(reserving: RollbackMemory.membersSize)
        file.append(RollbackMemory.membersMagic + vaultID)
        file.integer(UInt64(kept.count))
        for landmark in kept { file.authenticator(landmark) }
        file.zeros((RollbackMemory.landmarkLimit - kept.count) * Authenticator.size)
        update(MemoryFile(membersName, in: folder), to: file.bytes) { old in
            // `members` throws only errors of its closure. This closure throws none, since the keys were read above.
            isForced || landmarks.includes((try? members(in: old) { formerKeys })?.landmarks ?? [])
        }
    }
}

extension [Authenticator] {
    /// Returns whether these landmarks include all landmarks in `seen` and begin with the first landmark in `seen`.
    func includes(_ seen: [Authenticator]) -> Bool {
        (seen.isEmpty || seen.first == first) && seen.allSatisfy(contains)
    }
}

// This extension remembers failed compactions and verifications. See Format.md, "The rollback memory".

extension RollbackMemory {
    private static let upkeepMagic: [UInt8] = Array("vltkeep1".utf8)
    private static let messageSize = 127
    /// The size of the file: magic, vault ID, authenticator, sequence number, damage flag, errno, message and code.
    private static let upkeepSize = 8 + 16 + 16 + 8 + 1 + 4 + 1 + messageSize + KeyedHash.size
    var upkeepName: String { "\(Hexadecimal.string(of: vaultID)).upkeep" }

    /// The failure of the last compaction or verification, stored so that the next process does not retry at once.
    struct Upkeep: Sendable {
        /// The vault's checkpoint during the failed attempt. Once it has another one, the failure no longer counts.
        let origin: Authenticator
        /// The sequence number that the vault's last record must reach before a compaction starts automatically again.
        let retryAt: UInt64
        let error: LogError
    }

    func upkeep() -> Upkeep? {
        let bytes = read(upkeepName, size: RollbackMemory.upkeepSize)
        guard var reader = body(of: bytes, magic: RollbackMemory.upkeepMagic, size: RollbackMemory.upkeepSize),
            let origin = try? reader.authenticator(), let retryAt: UInt64 = try? reader.integer(),
            let isDamage = try? reader.byte(), let number: UInt32 = try? reader.integer(),
            let message = try? reader.text(upTo: RollbackMemory.messageSize)
        else { return nil }
        let error = LogError(
            isDamage == 1 ? .damaged : .unavailable, message,
            systemError: number == 0 ? nil : Int32(truncatingIfNeeded: number))
        return Upkeep(origin: origin, retryAt: retryAt, error: error)
    }

    func rememberUpkeep(_ upkeep: Upkeep) {
        var file = ByteWriter(reserving: RollbackMemory.upkeepSize)
        file.append(RollbackMemory.upkeepMagic + vaultID)
        file.authenticator(upkeep.origin)
        file.integer(upkeep.retryAt)
        file.byte(upkeep.error.code == .damaged ? 1 : 0)
        file.integer(UInt32(bitPattern: upkeep.error.systemError ?? 0))
        var message = upkeep.error.detail
        while message.utf8.count > RollbackMemory.messageSize { message.removeLast() }
        file.text(message)
        file.zeros(RollbackMemory.messageSize - message.utf8.count)
        update(MemoryFile(upkeepName, in: folder), to: file.bytes)
    }

    func forgetUpkeep() { folder.remove(upkeepName) }
}
