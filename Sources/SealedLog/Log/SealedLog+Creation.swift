import LinuxSystem
package import Sealing

extension SealedLog {
    /// Creates a new, empty vault, which is durable when this returns.
    ///
    /// - Parameters:
    ///   - secret: the first key of the vault.
    ///   - limits: the cost of a guess at a secret that was not generated.
    ///   - parameters: the parameters of the key slot.
    ///   - label: the label of the key slot, for display; at most 256 bytes.
    ///   - history: the limits on the history of a name.
    /// - Throws: `exists` if there is a vault already; `unavailable`, `outOfMemory`: nothing was created;
    ///   `outcomeUnknown`: the vault is there, but may not survive a power loss before its next use.
    package static func create(
        _ location: any StoreLocation, secret: borrowing Credential, limits: KeyDerivation.StretchLimits = .recommended,
        parameters: [UInt8] = [], label: String, history: KeptHistory = .none, options: Options
    ) throws(LogError) -> SealedLog {
        let label = try SlotLabel(ofNew: label)
        let (keys, slot) = try newKeys { (dataKey, wrappingKey) throws(LogError) in
            let slot = try KeySlot(for: secret, limits: limits, parameters: parameters)
            return try slot.wrapping(dataKey, with: secret, wrappingKey)
        }
        try [slot].check()
        let manifest = Manifest(
            created: label.created, totals: Totals(), chain: [], labels: [label], settings: [])
        return try create(location, keys: keys, options: options) { (checkpoint) throws(LogError) in
            try checkpoint.finish(manifest, slots: [slot], history: history)
        }
    }

    /// Generates a data key and the slot that wraps it.
    ///
    /// - Parameter wrap: returns the slot, and leaves its wrapping key in the second buffer.
    static func newKeys(
        _ wrap: (_ dataKey: UnsafeRawBufferPointer, _ wrappingKey: UnsafeMutableRawBufferPointer)
            throws(LogError) -> KeySlot
    ) throws(LogError) -> (KeyRing, KeySlot) {
        var slot: KeySlot?
        let keys = try KeyRing { (dataKey, wrappingKey) throws(LogError) in
            RandomBytes.fill(dataKey)
            slot = try wrap(UnsafeRawBufferPointer(dataKey), wrappingKey)
            return slot
        }
        guard let slot else { throw LogError(.invalid, "a vault needs a key") }
        return (keys, slot)
    }

    /// - Parameter write: writes and finishes the checkpoint.
    static func create(
        _ location: any StoreLocation, keys: KeyRing, options: Options,
        write: (inout CheckpointWriter) throws(LogError) -> Void
    ) throws(LogError) -> SealedLog {
        let store = try location.createUnpublished()
        var view: LogView
        do throws(LogError) {
            var checkpoint = CheckpointWriter(into: store, keys: keys)
            try write(&checkpoint)
            view = try HeaderImage(of: store).view(with: keys)
            try view.replaceCopy(isAccepted: true)
            try store.publish(over: nil, view.origin)
        } catch {
            store.discard()
            throw error
        }
        let memory = options.memory(of: view, at: location)
        let log = SealedLog(view, memory, options)
        // If this fails, the file is not removed, since other processes may already use it.
        do { try log.writer.withLock { (writer) throws(LogError) in try log.flushName(&writer) } } catch {
            throw error.ofUnknownOutcome
        }
        memory?.remember(view.origin)
        return shared(log)
    }

    /// Returns the ID in a vault's header, which is not authenticated; nil if there is no vault.
    package static func vaultID(at location: any StoreLocation) -> [UInt8]? {
        guard let store = try? location.open(.damaged),
            let bytes = try? store.available(at: 0, upTo: Header.size)
        else { return nil }
        return (try? Header(parsing: bytes))?.vaultID
    }

    /// Returns whether this machine has opened a vault at a location.
    package static func remembersVault(at location: any StoreLocation, memoryFolder: String) -> Bool {
        RollbackMemory.remembersVault(
            at: location.path, in: MemoryFolder(path: memoryFolder, fileSystem: location.files))
    }
}

/// Writes a checkpoint and the header that refers to it into an empty store. The values come first, then the entries in
/// the order of their names; Format.md, "Checkpoint".
struct CheckpointWriter: ~Copyable {
    let store: any NewStore
    private let keys: KeyRing
    private var sink: ByteSink
    private var tree: TreeBuilder
    private var totals = Totals()
    /// The offset up to which the store is flushed.
    private var flushed = Limits.checkpointStart

    /// The number of bytes between flushes. Flushing a large file at once would delay the flushes of processes that
    /// write to the log meanwhile.
    private static let flushStep: UInt64 = 8 << 20

    init(into store: any NewStore, keys: KeyRing) {
        self.store = store
        self.keys = keys
        sink = ByteSink(start: Limits.checkpointStart, store: store)
        tree = TreeBuilder(keys: keys)
    }

    /// The offset of the next byte.
    var offset: UInt64 { sink.offset }

    /// Writes the box of a value and returns its offset.
    mutating func write(value box: some Collection<UInt8>) throws(LogError) -> UInt64 {
        let offset = sink.offset
        try sink.write(box)
        try flushInSteps()
        return offset
    }

    /// - Precondition: the entry's name follows all names that were added before.
    mutating func add(_ entry: Entry) throws(LogError) {
        totals.replace(nil, with: entry)
        try tree.add(entry, to: &sink)
        try flushInSteps()
    }

    private mutating func flushInSteps() throws(LogError) {
        guard sink.offset - flushed >= CheckpointWriter.flushStep else { return }
        try sink.flush()
        try store.synchronize()
        flushed = sink.offset
    }

    /// Writes the end of a new vault's checkpoint: root, manifest with the totals of the added entries, zeros ahead,
    /// and finally the header.
    mutating func finish(
        _ manifest: Manifest, slots: [KeySlot], history: KeptHistory, isAccessLogged: Bool = false
    ) throws(LogError) {
        var manifest = manifest
        let reserved = try reserve(&manifest)
        try write(manifest, reserved)
        let header = Header(
            vaultID: RandomBytes.array(Header.identifierSize), sequence: 1, root: reserved.root,
            manifest: reserved.manifest, checkpointEnd: reserved.end, history: history,
            isAccessLogged: isAccessLogged, slots: slots)
        try store.write(try header.sealed(with: keys, as: store.vaultName), at: 0)
        try store.finish(at: reserved.end, nil)
    }

    /// The locations of the parts of a checkpoint that are written last.
    struct Reserved {
        let root: PageReference?
        let manifest: PageReference
        let end: UInt64
    }

    /// Writes the root and reserves room for a manifest of this size, whose totals are set to those of the added
    /// entries.
    mutating func reserve(_ manifest: inout Manifest) throws(LogError) -> Reserved {
        let root = try tree.finish(to: &sink)
        manifest.totals = totals
        try sink.flush()
        var nonces = NonceSource()
        let extent = PageReference(
            offset: sink.offset, length: manifest.encoded.count + SecretBox.tagSize, nonce: nonces.next())
        return Reserved(root: root, manifest: extent, end: extent.box.upperBound)
    }

    /// Writes a manifest, padded with zeros, into the reserved room.
    func write(_ manifest: Manifest, _ reserved: Reserved) throws(LogError) {
        let size = reserved.manifest.length - SecretBox.tagSize
        let plaintext = manifest.encoded
        let padded = plaintext + [UInt8](repeating: 0, count: size - plaintext.count)
        try store.write(try keys.seal(padded, for: .page, nonce: reserved.manifest.nonce), at: reserved.manifest.offset)
    }
}
