import LinuxSystem
import Sealing

/// The records that are written to a file while it is being compacted.
struct CompactionTail {
    /// The number of entries that can be copied under the lock without a noticeable delay for other writers.
    static let entriesUnderLock = 256

    private let old: LogView
    private let newKeys: KeyRing?
    /// The new limits on the history; nil if they stay.
    private let history: KeptHistory?
    private let now: UInt64
    private(set) var position: LogPosition
    private var offset: UInt64
    private(set) var chain: [Authenticator] = []
    /// The names with a value that a rotation could not open.
    private(set) var unopened: Set<EntryName> = []
    /// The newest entries of the names in these records, with the offsets of the old file.
    private var entries = RecentEntries()

    /// - Parameter keys: the keys under which values are resealed; nil if they stay as they are.
    init(behind old: LogView, resealing keys: KeyRing?, keeping history: KeptHistory?) {
        self.old = old
        newKeys = keys
        self.history = history
        now = old.store.retentionTime
        position = old.head
        offset = old.end
    }

    var count: Int { entries.count }

    mutating func forgetEntries() { entries = RecentEntries() }

    /// Reads and authenticates the records that were appended since the last call, and returns the number of their
    /// entries. A record that is still being written is left for the next call.
    ///
    /// - Parameter isHurried: whether a minor checkpoint and the records after it are left for the next call too.
    mutating func read(isHurried: Bool = false) throws(LogError) -> Int {
        // A new reader is needed: the window of a former one does not show what was appended.
        var reader = old.reader
        var count = 0
        while case .record(let record) = try reader.record(at: offset, after: position),
            try reader.payloadHolds(record), !isHurried || record.index.tree == nil
        {
            count += try take(record)
            chain.append(record.authenticator)
            if chain.count > 2 * Limits.chainLength { chain.removeFirst(Limits.chainLength) }
            position = record.position
            offset = record.end
        }
        return count
    }

    /// Reads in rounds, each of which gives other writers less time than the one before.
    mutating func readUntilFewAreLeft() throws(LogError) {
        for _ in 0...10 where try read() <= CompactionTail.entriesUnderLock { return }
    }

    /// Fills the page cache of the new file's view with the entries that will be replaced.
    func findReplaced(on new: inout LogView?) throws(LogError) {
        for number in entries.newest { _ = try new?.find(entries.inserted(Int(number)).name) }
    }

    private mutating func take(_ record: Record) throws(LogError) -> Int {
        guard let tree = record.index.tree else {
            for transaction in record.index.transactions {
                for entry in transaction { entries.insert(entry) }
            }
            return record.index.transactions.reduce(0) { $0 + $1.count }
        }
        var known = old
        var cursor = try TreeCursor(root: tree.root, loader: old.loader)
        var count = 0
        while let entry = try cursor.next() {
            // The tree repeats entries of earlier records. Tombstones and restored values have no new box.
            let isNew = entry.versions.contains { $0.offset >= record.offset }
            if !isNew, try known.find(entry.name) == entry { continue }
            entries.insert(entry)
            count += 1
        }
        return count
    }

    /// The indices of the newest entries, in the order of their values' offsets. The order of their names would be
    /// visible to a reader of both files. There may be millions of entries, so each is read only when it is needed.
    private var ordered: [Int32] {
        entries.newest.map { (entries.inserted(Int($0)).content?.current.offset ?? 0, $0) }
            .sorted { $0.0 < $1.0 }.map { $0.1 }
    }

    /// Returns all entries that were read as one batch for the new file.
    mutating func batch(on new: inout LogView) throws(LogError) -> TransactionBatch {
        var repair = try BoxRepair(of: old.store, keys: old.keys)
        var batch = TransactionBatch(totals: try new.currentTotals())
        for number in ordered { try move(entries.inserted(Int(number)), &repair, to: &batch, on: &new) }
        return batch
    }

    /// Returns the entries as batches that are small enough for records without a tree.
    mutating func batches(on new: LogView) throws(LogError) -> [TransactionBatch] {
        var new = new
        var repair = try BoxRepair(of: old.store, keys: old.keys)
        var batches: [TransactionBatch] = []
        var totals = try new.currentTotals()
        let ordered = ordered
        for start in stride(from: 0, to: ordered.count, by: 64) {
            var batch = TransactionBatch(totals: totals)
            for number in ordered[start..<min(start + 64, ordered.count)] {
                try move(entries.inserted(Int(number)), &repair, to: &batch, on: &new)
            }
            totals = batch.totals
            batches.append(batch)
        }
        return batches
    }

    private mutating func move(
        _ entry: Entry, _ repair: inout BoxRepair?, to batch: inout TransactionBatch, on new: inout LogView
    ) throws(LogError) {
        let name = entry.name
        var entry = entry
        var boxes: [[UInt8]?] = []
        if let history { entry.dropHistory(beyond: history, now: now) }
        let known = try new.find(name)
        try entry.forEachVersion { (version) throws(LogError) in
            guard let newKeys else {
                // A version that was there before is already in the new file, since no two boxes have the same nonce.
                if let moved = known?.versions.first(where: { $0.nonce == version.nonce }) {
                    version = moved
                    return boxes.append(nil)
                }
                // The version may be one of the old checkpoint that was dropped as too old.
                var box = try old.store.bytes(at: version.offset, count: version.boxLength)
                try repair?.repair(version, in: &box, from: version.offset)
                return boxes.append(box)
            }
            var resealer = try ValueResealer(of: old.store, from: old.keys, to: newKeys)
            let sealed = try resealer.resealOrCopy(version)
            if !sealed.opens { unopened.insert(name) }
            version = sealed.version
            boxes.append(sealed.box)
        }
        batch.move(entry, boxes, replacing: known)
        guard batch.payloadSize <= Limits.transactionSize else {
            throw LogError(.conflict, "too much was written meanwhile")
        }
    }
}
