import Sealing

// Failed compactions and verifications. See Format.md, "The rollback memory".

extension RollbackMemory {
    private static let upkeepMagic: [UInt8] = Array("vltkeep1".utf8)
    /// The size of the message field in bytes.
    private static let messageSize = 127
    /// The sizes of the magic, vault ID, authenticator, sequence number, damage flag, errno, message, code.
    private static let upkeepSize = 8 + 16 + 16 + 8 + 1 + 4 + 1 + messageSize + KeyedHash.size
    var upkeepName: String { "\(Hexadecimal.string(of: vaultID)).upkeep" }

    /// The reason why the last compaction or verification failed, stored so that the next process does not retry at
    /// once.
    struct Upkeep: Sendable {
        /// The checkpoint at which the attempt failed. The failure is outdated once the vault has another checkpoint.
        let origin: Authenticator
        /// The sequence number at which the next attempt may be made.
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
