/// The memory of a vault at one moment. The vault's keys are needed to decode it.
struct Remembered: Sendable {
    private let memory: RollbackMemory
    let bytes: [UInt8]

    /// Reads the bytes of the newest position; nil if there are none.
    init?(_ memory: RollbackMemory) {
        guard let bytes = memory.newest() else { return nil }
        self.memory = memory
        self.bytes = bytes
    }

    /// Returns the newest position of the vault that a view shows, which was opened since. Returns nil for changes that
    /// wait to be merged, since the memory describes the vault that they will be merged into. Throws `rolledBack` if
    /// the position belongs to another data key that is not among the vault's former ones.
    func seen(of view: LogView) throws(LogError) -> RollbackMemory.Seen? {
        guard view.store.target == nil else { return nil }
        return try seen(under: view.keys) { () throws(LogError) in try view.manifest().formerMemoryKeys }
    }

    /// Returns the newest position, by the vault's keys and the memory subkeys of its former data keys.
    func seen(
        under keys: KeyRing, _ formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) -> RollbackMemory.Seen? {
        try memory.seen(in: bytes, under: keys, formerKeys)
    }

    func position(of view: LogView) throws(LogError) -> LogPosition? { try seen(of: view)?.position }
}
