import Sealing

// Failed upkeep; Format.md, "The rollback memory".

extension RollbackMemory {
    private static let upkeepMagic: [UInt8] = Array("vltkeep1".utf8)
    /// The room for the words, in bytes.
    private static let wordsSize = 127
    /// Magic, id, authenticator, sequence number, damage or not, errno, words with their length, code.
    private static let upkeepSize = 8 + 16 + 16 + 8 + 1 + 4 + 1 + wordsSize + KeyedHash.size
    var upkeepName: String { "\(Hexadecimal.string(of: vaultID)).upkeep" }

    /// Why the last compaction or verification failed. The next process knows it too, and does not try again at once.
    struct Upkeep: Sendable {
        /// The checkpoint at which it failed. Once another has replaced it, the failure is outdated.
        let origin: Authenticator
        /// The sequence number before which there is no other try.
        let retryAt: UInt64
        let error: LogError
    }

    func upkeep() -> Upkeep? {
        let bytes = read(upkeepName, size: RollbackMemory.upkeepSize)
        guard var reader = body(of: bytes, magic: RollbackMemory.upkeepMagic, size: RollbackMemory.upkeepSize),
            let origin = try? reader.authenticator(), let retryAt: UInt64 = try? reader.integer(),
            let isDamage = try? reader.byte(), let number: UInt32 = try? reader.integer(),
            let words = try? reader.text(upTo: RollbackMemory.wordsSize)
        else { return nil }
        let error = LogError(
            isDamage == 1 ? .damaged : .unavailable, words,
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
        var words = upkeep.error.detail
        while words.utf8.count > RollbackMemory.wordsSize { words.removeLast() }
        file.text(words)
        file.zeros(RollbackMemory.wordsSize - words.utf8.count)
        update(MemoryFile(upkeepName, in: folder), to: file.bytes)
    }

    func forgetUpkeep() { folder.remove(upkeepName) }
}
