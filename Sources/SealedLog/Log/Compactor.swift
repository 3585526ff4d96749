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
        sink = StoreSink(store: store, start: Limits.checkpointStart)
        tree = TreeBuilder(keys: old.keys, expecting: 4_096)
    }

    /// Reads and authenticates all records of the old file, payloads too, and the header's copy: what was changed in them must not
    /// vanish with it.
    ///
    /// - Throws: `damaged`, naming the place.
    mutating func readRecords() throws(LogError) {
        try old.checkHeaderCopy()
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
        let moves = try copyValues()
        let now = SealedLog.now
        var merge = try old.entries()
        while var entry = try merge.next() {
            if entry.isRemoved {
                // A time in the future, of a clock that was wrong, counts as young.
                guard entry.modified >= now || now - entry.modified < Limits.tombstoneLifetime else { continue }
            } else {
                entry = try entry.moved(along: moves)
            }
            totals.replace(nil, with: entry)
            try tree.add(entry, to: &sink)
        }
    }

    /// Copies the values of all present names, still sealed, in the order in which they lie in the old file. In the order of the names they
    /// would tell it to whoever has both files.
    private mutating func copyValues() throws(LogError) -> [ValueMove] {
        var moves: [ValueMove] = []
        var merge = try old.entries()
        while let entry = try merge.next() {
            for version in entry.versions { moves.append(ValueMove(from: version.place, length: version.boxLength)) }
        }
        moves.sort { $0.from < $1.from }
        // Reads what lies side by side with one system call.
        var reader = RecordReader(store: old.store, keys: old.keys, vaultID: old.header.vaultID)
        for index in moves.indices {
            if index > 0, moves[index].from == moves[index - 1].from {
                moves[index].to = moves[index - 1].to
                continue
            }
            let box = try reader.bytes(at: moves[index].from, upTo: moves[index].length)
            guard box.count == moves[index].length else {
                throw LogError.damaged("the file ends too early; it was cut", at: moves[index].from)
            }
            moves[index].to = sink.place
            try box.withRawBytes { (box) throws(LogError) in try sink.write(box) }
        }
        return moves
    }

    /// Writes the root, the manifest and the header, which continues the chain after `notice`.
    ///
    /// - Parameter notice: the last record of the old file.
    mutating func finish(after notice: Record, slots: [KeySlot]) throws(LogError) {
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
        header.slots = slots
        header.root = root
        header.manifest = extent
        header.checkpointEnd = sink.place
        try sink.writeZeros(to: (sink.place / Limits.growth + 1) * Limits.growth)
        try sink.flush()
        try sink.store.write(try header.sealed(with: old.keys), at: 0)
    }
}

/// Where the box of a value lies in the old file and in the new one.
private struct ValueMove {
    let from: UInt64
    let length: Int
    var to: UInt64 = 0

    init(from: UInt64, length: Int) {
        self.from = from
        self.length = length
    }
}

extension Entry {
    /// The entry with its values where they have come to lie.
    ///
    /// - Parameter moves: in the order of the old places.
    fileprivate func moved(along moves: [ValueMove]) throws(LogError) -> Entry {
        guard var content else { return self }
        content.current.place = try moves.target(of: content.current)
        for index in content.earlier.indices {
            content.earlier[index].version.place = try moves.target(of: content.earlier[index].version)
        }
        var entry = self
        entry.content = content
        return entry
    }
}

extension [ValueMove] {
    fileprivate func target(of version: StoredVersion) throws(LogError) -> UInt64 {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].from < version.place { low = middle + 1 } else { high = middle }
        }
        guard low < count, self[low].from == version.place, self[low].length == version.boxLength else {
            throw LogError.damaged("a value", at: version.place)
        }
        return self[low].to
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
