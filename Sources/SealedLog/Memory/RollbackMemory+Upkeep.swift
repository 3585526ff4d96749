import Sealing

// Why the last compaction failed, so that the next process knows, and does not try again at once.

extension RollbackMemory {
    private static let upkeepMagic: [UInt8] = Array("vltkeep1".utf8)
    /// Room for the words, in bytes.
    private static let wordsSize = 127
    /// Magic, id, authenticator, sequence number, damage or not, errno, words with their length, code.
    private static let upkeepSize = 8 + 16 + 16 + 8 + 1 + 4 + 1 + wordsSize + codeSize

    /// What upkeep has met in a vault.
    struct Upkeep: Sendable {
        /// The checkpoint that was to be compacted: once it has gone, so has what was wrong with it.
        let origin: Authenticator
        /// No other try before this sequence number.
        let retryAt: UInt64
        let error: LogError
    }

    var upkeepName: String { "\(Hexadecimal.string(of: vaultID)).upkeep" }

    /// What upkeep has met, if that is remembered.
    func upkeep() -> Upkeep? {
        guard let bytes = read(upkeepName),
            let body = authentic(
                bytes, magic: RollbackMemory.upkeepMagic, context: [], size: RollbackMemory.upkeepSize)
        else { return nil }
        var reader = ByteReader(body)
        guard let id = try? reader.array(Header.identifierSize), id == vaultID,
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
        var body = ByteWriter(reserving: 192)
        body.append(vaultID)
        body.authenticator(upkeep.origin)
        body.integer(upkeep.retryAt)
        body.byte(upkeep.error.code == .damaged ? 1 : 0)
        body.integer(UInt32(bitPattern: upkeep.error.systemError ?? 0))
        var words = upkeep.error.detail
        while words.utf8.count > RollbackMemory.wordsSize { words.removeLast() }
        body.text(words)
        body.zeros(RollbackMemory.wordsSize - words.utf8.count)
        update(upkeepName, magic: RollbackMemory.upkeepMagic, context: [], body: body.bytes)
    }

    func forgetUpkeep() {
        folder.remove(upkeepName)
    }
}
