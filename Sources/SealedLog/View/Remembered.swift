/// What this machine remembers of a vault at one moment. Only the vault's keys tell what that is.
struct Remembered: Sendable {
    private let memory: RollbackMemory
    let bytes: [UInt8]

    /// Reads what is remembered of the newest position; nil if nothing is.
    init?(_ memory: RollbackMemory) {
        guard let bytes = memory.newest() else { return nil }
        (self.memory, self.bytes) = (memory, bytes)
    }

    /// Returns what it is for the vault that a view shows, which was opened since; nil for changes that wait to be
    /// merged, since it is of the vault that they are to be merged into. Throws `rolledBack` if it is of another data
    /// key, which is none of the vault's former ones.
    func seen(of view: LogView) throws(LogError) -> RollbackMemory.Seen? {
        guard view.store.target == nil else { return nil }
        return try seen(under: view.keys) { () throws(LogError) in try view.manifest().formerMemoryKeys }
    }

    /// Does the same by the vault's keys, and the memory subkeys of its former data keys.
    func seen(
        under keys: KeyRing, _ formerKeys: () throws(LogError) -> [[UInt8]]
    ) throws(LogError) -> RollbackMemory.Seen? {
        try memory.seen(in: bytes, under: keys, formerKeys)
    }

    func position(of view: LogView) throws(LogError) -> LogPosition? { try seen(of: view)?.position }
}
