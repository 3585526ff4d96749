import Sealing

/// Writes a checkpoint into an empty store, and the header that leads to it: first the values, then the entries in the
/// order of their names; Format.md, "Checkpoint".
struct CheckpointWriter {
    private let keys: KeyRing
    private var sink: StoreSink
    private var tree: TreeBuilder
    private var totals = Totals()

    /// - Parameter entries: about how many there will be.
    init(into store: any RecordStore, keys: KeyRing, expecting entries: Int = 0) {
        self.keys = keys
        sink = StoreSink(store: store, start: Limits.checkpointStart)
        tree = TreeBuilder(keys: keys, expecting: entries)
    }

    /// Writes the box of a value, and returns its offset.
    mutating func write(value box: UnsafeRawBufferPointer) throws(LogError) -> UInt64 {
        let offset = sink.offset
        try sink.write(box)
        return offset
    }

    /// - Precondition: the entry's name comes after all the names before.
    mutating func add(_ entry: Entry) throws(LogError) {
        totals.replace(nil, with: entry)
        try tree.add(entry, to: &sink)
    }

    /// Writes the root, the manifest with the totals of what was added, zeros ahead, and last the header.
    mutating func finish(
        _ manifest: Manifest, vaultID: [UInt8], sequence: UInt64, slots: [KeySlot]
    ) throws(LogError) {
        let root = try tree.finish(to: &sink)
        var manifest = manifest
        manifest.totals = totals
        var nonces = NonceSource(expected: 1)
        let nonce = nonces.next()
        let box = try keys.seal(manifest.encoded, for: .page, nonce: nonce)
        let extent = PageReference(offset: sink.offset, length: box.count, nonce: nonce)
        try sink.write(box)
        let header = Header(
            vaultID: vaultID, sequence: sequence, root: root, manifest: extent, checkpointEnd: sink.offset,
            slots: slots)
        try sink.writeZeros(to: (sink.offset / Limits.growth + 1) * Limits.growth)
        try sink.flush()
        try sink.store.write(try header.sealed(with: keys), at: 0)
    }
}

/// Writes bytes one after the other into a store, a mebibyte at a time.
private struct StoreSink: ByteSink {
    let store: any RecordStore
    private var buffer: [UInt8] = []
    private var flushed: UInt64

    init(store: any RecordStore, start: UInt64) {
        self.store = store
        flushed = start
    }

    var offset: UInt64 { flushed + UInt64(buffer.count) }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(LogError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 1 << 20 { try flush() }
    }

    mutating func writeZeros(to end: UInt64) throws(LogError) {
        try write([UInt8](repeating: 0, count: Int(end - offset)))
    }

    mutating func flush() throws(LogError) {
        try store.write(buffer, at: flushed)
        flushed += UInt64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}
