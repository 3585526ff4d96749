import Sealing

// The members that this machine has seen. See Format.md, "The rollback memory".

extension RollbackMemory {
    private static let membersMagic: [UInt8] = Array("vltmemb1".utf8)
    private static let landmarkLimit = 128
    /// The sizes of the magic, vault ID, count, landmarks and authentication code.
    private static let membersSize = 8 + 16 + 8 + landmarkLimit * Authenticator.size + KeyedHash.size
    private var membersName: String { "\(Hexadecimal.string(of: vaultID)).members" }

    /// Returns the ``MemberList/landmarks`` that this machine has seen.
    ///
    /// - Parameter formerKeys: the memory subkeys of the vault's former data keys.
    /// - Returns: the landmarks, and whether a former key authenticates the file, which then has to be rewritten.
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

    /// Remembers the first landmark and the newest others, unless another process has stored more in the meantime.
    ///
    /// - Parameter isForced: whether the user has accepted that landmarks seen before are missing.
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
            // `members` throws only if `formerKeys` does, and the keys were already read above.
            isForced || landmarks.includes((try? members(in: old) { formerKeys })?.landmarks ?? [])
        }
    }
}

extension [Authenticator] {
    /// Returns whether these landmarks include all earlier ones.
    func includes(_ seen: [Authenticator]) -> Bool {
        (seen.isEmpty || seen.first == first) && seen.allSatisfy(contains)
    }
}
