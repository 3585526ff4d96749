import Sealing

/// Writes a vault anew: the newest entry of each name, and the values of those that are present, still sealed.
struct Compactor {
    private let old: LogView
    private var sink: StoreSink
    private var tree: TreeBuilder
    private var totals = Totals()
    /// The authenticators of the old file: of its header, and of its records.
    private var chain: [Authenticator] = []

    init(_ old: LogView, into store: any RecordStore) {
        self.old = old
        sink = StoreSink(store: store, start: UInt64(Header.size))
        tree = TreeBuilder(keys: old.keys, expecting: 4_096)
    }

    /// Reads and authenticates all records of the old file, payloads too: what was changed in them must not vanish with it.
    ///
    /// - Throws: `damaged`, naming the place.
    mutating func readRecords() throws(LogError) {
        var reader = RecordReader(store: old.store, keys: old.keys, vaultID: old.header.vaultID)
        var (moment, place) = (old.origin, old.header.checkpointEnd)
        chain = [moment.authenticator]
        while place < old.end {
            guard case .record(let record) = try reader.record(at: place, after: moment) else {
                throw LogError.damaged("a record", at: place)
            }
            guard try reader.payloadHolds(record) else { throw LogError.damaged("a payload", at: place) }
            (moment, place) = (record.moment, record.end)
            chain.append(moment.authenticator)
        }
    }

    mutating func copyEntries() throws(LogError) {
        let now = SealedLog.now
        var merge = try old.entries()
        while var entry = try merge.next() {
            if entry.isRemoved {
                // A time in the future, of a clock that was wrong, counts as young.
                guard entry.modified >= now || now - entry.modified < Limits.tombstoneLifetime else { continue }
            } else {
                try moveValues(of: &entry)
            }
            totals.replace(nil, with: entry)
            try tree.add(entry, to: &sink)
        }
    }

    private mutating func moveValues(of entry: inout Entry) throws(LogError) {
        guard var content = entry.content else { return }
        content.current.place = try copy(content.current)
        for index in content.earlier.indices {
            content.earlier[index].version.place = try copy(content.earlier[index].version)
        }
        entry.content = content
    }

    /// Copies a sealed value without opening it.
    private mutating func copy(_ version: StoredVersion) throws(LogError) -> UInt64 {
        let place = sink.place
        try sink.write(try old.store.bytes(at: version.place, count: version.boxLength))
        return place
    }

    /// Writes the root, the manifest and the header, which continues the chain after `notice`.
    ///
    /// - Parameter notice: the last record of the old file.
    mutating func finish(after notice: Record) throws(LogError) {
        let root = try tree.finish(to: &sink)
        var manifest = try old.manifest()
        manifest.totals = totals
        manifest.chain = Array((manifest.chain + chain + [notice.authenticator]).suffix(Limits.chainLength))
        var nonces = NonceSource(expected: 1)
        let nonce = nonces.next()
        let box = try old.keys.seal(manifest.encoded, for: .page, nonce: nonce)
        let extent = SealedExtent(place: sink.place, length: box.count, nonce: nonce)
        try sink.write(box)

        var header = old.header
        header.sequence = notice.index.sequence + 1
        guard header.sequence < Limits.sequence else {
            throw LogError(.invalid, "the vault has used up its sequence numbers")
        }
        header.root = root
        header.manifest = extent
        header.checkpointEnd = sink.place
        try sink.writeZeros(to: (sink.place / Limits.growth + 1) * Limits.growth)
        try sink.flush()
        try sink.store.write(try header.sealed(with: old.keys).bytes, at: 0)
    }
}

/// Writes one after the other into a store, a mebibyte at a time.
private struct StoreSink: ByteSink {
    let store: any RecordStore
    private var buffer: [UInt8] = []
    private var flushed: UInt64

    init(store: any RecordStore, start: UInt64) {
        self.store = store
        flushed = start
    }

    var place: UInt64 { flushed + UInt64(buffer.count) }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(LogError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 1 << 20 { try flush() }
    }

    mutating func writeZeros(to end: UInt64) throws(LogError) {
        try write([UInt8](repeating: 0, count: Int(end - place)))
    }

    mutating func flush() throws(LogError) {
        try store.write(buffer, at: flushed)
        flushed += UInt64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}
