import LinuxSystem
import Sealing

/// A writer that fills an empty store with a checkpoint and the header that refers to it. The values come first, then
/// the entries, sorted by name. See Format.md, "Checkpoint".
struct CheckpointWriter: ~Copyable {
    let store: any NewStore
    private let keys: KeyRing
    private var sink: ByteSink
    private var tree: TreeBuilder
    private var totals = Totals()
    /// The offset up to which the store has been flushed.
    private var flushed = Limits.checkpointStart

    /// The number of bytes between flushes. A single flush of a large file would delay the flushes of other processes
    /// that write to the log.
    private static let flushStep: UInt64 = 8 << 20

    init(into store: any NewStore, keys: KeyRing) {
        self.store = store
        self.keys = keys
        sink = ByteSink(start: Limits.checkpointStart, store: store)
        tree = TreeBuilder(keys: keys)
    }

    var offset: UInt64 { sink.offset }

    mutating func write(value box: some Collection<UInt8>) throws(LogError) -> UInt64 {
        let offset = sink.offset
        try sink.write(box)
        try flushInSteps()
        return offset
    }

    /// - Precondition: the entry's name sorts after the names of all entries added so far.
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

    /// Completes a new vault's checkpoint and prepares the store for the first record. Writes the root, the header, and
    /// the manifest with the totals of the added entries.
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

    /// The checkpoint's end, and references to its root (already written) and to its manifest (not yet written).
    struct Reserved {
        let root: PageReference?
        let manifest: PageReference
        let end: UInt64
    }

    /// Writes the root, sets the manifest's totals to those of the added entries, and reserves space for the manifest.
    mutating func reserve(_ manifest: inout Manifest) throws(LogError) -> Reserved {
        let root = try tree.finish(to: &sink)
        manifest.totals = totals
        try sink.flush()
        var nonces = NonceSource()
        let extent = PageReference(
            offset: sink.offset, length: manifest.encoded.count + SecretBox.tagSize, nonce: nonces.next())
        return Reserved(root: root, manifest: extent, end: extent.box.upperBound)
    }

    /// Seals a manifest, padded with zeros, and writes it into the space that was reserved for it.
    func write(_ manifest: Manifest, _ reserved: Reserved) throws(LogError) {
        let size = reserved.manifest.length - SecretBox.tagSize
        let plaintext = manifest.encoded
        let padded = plaintext + [UInt8](repeating: 0, count: size - plaintext.count)
        try store.write(try keys.seal(padded, for: .page, nonce: reserved.manifest.nonce), at: reserved.manifest.offset)
    }
}
