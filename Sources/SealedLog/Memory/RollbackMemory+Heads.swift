import Sealing

// The log positions last seen in a vault that is stored in git. See Format.md, "The rollback memory".

extension RollbackMemory {
    private static let headsMagic: [UInt8] = Array("vltheads".utf8)
    private static let positionSize = 8 + Authenticator.size
    /// The sizes of the magic, vault ID, count, positions and authentication code.
    private static let headsSize = 8 + 16 + 8 + Limits.seenHeads * positionSize + KeyedHash.size
    private var headsName: String { "\(Hexadecimal.string(of: vaultID)).heads" }

    /// Returns the vault's last seen positions, oldest first. The result is empty unless ``keepsHeads`` is true.
    ///
    /// - Parameter formerKeys: the memory subkeys of the vault's former data keys.
    func heads(_ formerKeys: () throws(LogError) -> [[UInt8]]) throws(LogError) -> [LogPosition] {
        keepsHeads ? try keptHeads(formerKeys) : []
    }

    /// Returns the stored positions even if ``keepsHeads`` is false, in which case no more are added.
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

    /// Adds positions as the newest ones. Drops the oldest positions beyond the maximum number.
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
