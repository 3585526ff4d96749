import LinuxSystem
import Sealing

/// Writes the compacted file of a vault: the newest entry of each name, and the values of present ones, still sealed.
struct Compactor {
    private let old: LogView
    private var checkpoint: CheckpointWriter
    private let counter: UpkeepProgress?
    private var manifest: Manifest
    /// The authenticators of the old file's header and records.
    private var chain: [Authenticator] = []

    /// - Throws: `damaged`, `unavailable`, for the manifest; nothing has been written to the old file then.
    init(_ old: LogView, into store: any RecordStore, _ counter: UpkeepProgress? = nil) throws(LogError) {
        self.old = old
        manifest = try old.manifest()
        self.counter = counter
        checkpoint = CheckpointWriter(into: store, keys: old.keys, expecting: 4_096)
    }

    /// Authenticates all records of the old file, with their payloads, and the header's copy: a change to them must not
    /// disappear with the file.
    ///
    /// - Throws: `damaged`, with the offset.
    mutating func readRecords() throws(LogError) {
        // All records are read, and then the values that are present.
        counter?.begin(2 * old.end)
        try old.checkHeaderCopy()
        var reader = old.reader
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
        let targets = try copyValues()
        let now = SealedLog.now
        var merge = try old.entries()
        while var entry = try merge.next() {
            if entry.isRemoved {
                // A time in the future, from a wrong clock, counts as young.
                guard entry.modified >= now || now - entry.modified < Limits.tombstoneLifetime else { continue }
            } else {
                entry = try entry.moved(to: targets)
                counter?.advance(by: entry.footprint)
            }
            try checkpoint.add(entry)
        }
    }

    /// Copies the values of all present names, still sealed, in the order of their old offsets. The order of the names
    /// would reveal itself to a reader of both files.
    ///
    /// - Returns: the copied boxes, by their old offsets.
    private mutating func copyValues() throws(LogError) -> [UInt64: MovedBox] {
        var versions: [(offset: UInt64, length: Int)] = []
        var merge = try old.entries()
        while let entry = try merge.next() { versions += entry.versions.map { ($0.offset, $0.boxLength) } }
        versions.sort { $0.offset < $1.offset }
        var targets: [UInt64: MovedBox] = [:]
        targets.reserveCapacity(versions.count)
        // Reads neighbours with one system call.
        var reader = old.reader
        for (offset, length) in versions where targets[offset] == nil {
            let box = try reader.bytes(at: offset, upTo: length)
            guard box.count == length else { throw .cut(at: offset) }
            counter?.advance(by: UInt64(length))
            let target = try box.withRawBytes { (box) throws(LogError) in try checkpoint.write(value: box) }
            targets[offset] = MovedBox(offset: target, length: length)
        }
        return targets
    }

    /// Writes the root, the manifest and the header, which continues the chain after the old file's last record.
    mutating func finish(after notice: Record, slots: [KeySlot]) throws(LogError) {
        manifest.chain = Array((manifest.chain + chain + [notice.authenticator]).suffix(Limits.chainLength))
        let sequence = notice.index.sequence + 1
        guard sequence < Limits.sequence else {
            throw LogError(.invalid, "the vault has used up its sequence numbers")
        }
        try checkpoint.finish(manifest, vaultID: old.header.vaultID, sequence: sequence, slots: slots)
    }
}

/// The box of a value in the new file.
private struct MovedBox {
    let offset: UInt64
    let length: Int
}

extension Entry {
    /// The entry with its values at their new offsets.
    fileprivate func moved(to targets: [UInt64: MovedBox]) throws(LogError) -> Entry {
        func move(_ version: inout StoredVersion) throws(LogError) {
            guard let target = targets[version.offset], target.length == version.boxLength else {
                throw LogError.damaged("a value", at: version.offset)
            }
            version.offset = target.offset
        }
        guard var content else { return self }
        try move(&content.current)
        for index in content.earlier.indices { try move(&content.earlier[index].version) }
        var entry = self
        entry.content = content
        return entry
    }
}
