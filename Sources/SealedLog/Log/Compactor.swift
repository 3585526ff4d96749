import LinuxSystem
import Sealing

/// Writes a vault anew: the newest entry of each name, and the values of those that are present, still sealed.
struct Compactor {
    private let old: LogView
    private var checkpoint: CheckpointWriter
    private let counter: UpkeepProgress?
    private var manifest: Manifest
    /// The authenticators of the old file: of its header, and of its records.
    private var chain: [Authenticator] = []

    /// - Throws: `damaged`, `unavailable`: for the manifest, before anything is written to the old file.
    init(_ old: LogView, into store: any RecordStore, _ counter: UpkeepProgress? = nil) throws(LogError) {
        self.old = old
        manifest = try old.manifest()
        self.counter = counter
        checkpoint = CheckpointWriter(into: store, keys: old.keys, expecting: 4_096)
    }

    /// Reads and authenticates all records of the old file, payloads too, and the header's copy: what was changed in
    /// them must not vanish with it.
    ///
    /// - Throws: `damaged`, naming the place.
    mutating func readRecords() throws(LogError) {
        // What lives is read, and then named.
        counter?.begin(2 * old.end)
        try old.checkHeaderCopy()
        var reader = RecordReader(store: old.store, keys: old.keys, vaultID: old.header.vaultID)
        var (position, offset) = (old.origin, old.header.checkpointEnd)
        chain = [position.authenticator]
        while offset < old.end {
            guard case .record(let record) = try reader.record(at: offset, after: position) else {
                throw LogError.damaged("a record", at: offset)
            }
            guard try reader.payloadHolds(record) else { throw LogError.damaged("a payload", at: offset) }
            (position, offset) = (record.position, record.end)
            counter?.advance(by: record.frame.recordLength)
            chain.append(position.authenticator)
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
                counter?.advance(by: entry.footprint)
            }
            try checkpoint.add(entry)
        }
    }

    /// Copies the values of all present names, still sealed, in the order in which they lie in the old file. In the
    /// order of the names they would tell it to whoever has both files.
    private mutating func copyValues() throws(LogError) -> [ValueMove] {
        var moves: [ValueMove] = []
        var merge = try old.entries()
        while let entry = try merge.next() {
            for version in entry.versions { moves.append(ValueMove(from: version.offset, length: version.boxLength)) }
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
            counter?.advance(by: UInt64(box.count))
            moves[index].to = try box.withRawBytes { (box) throws(LogError) in try checkpoint.write(value: box) }
        }
        return moves
    }

    /// Writes the root, the manifest and the header, which continues the chain after `notice`.
    ///
    /// - Parameter notice: the last record of the old file.
    mutating func finish(after notice: Record, slots: [KeySlot]) throws(LogError) {
        manifest.chain = Array((manifest.chain + chain + [notice.authenticator]).suffix(Limits.chainLength))
        let sequence = notice.index.sequence + 1
        guard sequence < Limits.sequence else {
            throw LogError(.invalid, "the vault has used up its sequence numbers")
        }
        try checkpoint.finish(manifest, vaultID: old.header.vaultID, sequence: sequence, slots: slots)
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
    /// - Parameter moves: in the order of the old offsets.
    fileprivate func moved(along moves: [ValueMove]) throws(LogError) -> Entry {
        guard var content else { return self }
        content.current.offset = try moves.target(of: content.current)
        for index in content.earlier.indices {
            content.earlier[index].version.offset = try moves.target(of: content.earlier[index].version)
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
            if self[middle].from < version.offset { low = middle + 1 } else { high = middle }
        }
        guard low < count, self[low].from == version.offset, self[low].length == version.boxLength else {
            throw LogError.damaged("a value", at: version.offset)
        }
        return self[low].to
    }
}
