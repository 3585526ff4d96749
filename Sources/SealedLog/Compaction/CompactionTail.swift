import LinuxSystem
import Sealing

/// The records that other writers append to the old file during a compaction.
struct CompactionTail {
    /// The maximum number of entries that can be copied under the lock without a noticeable delay for other writers.
    static let entriesUnderLock = 256

    private let old: LogView
    private let newKeys: KeyRing?
    /// The new limits on each name's history; nil if the limits do not change.
    private let history: KeptHistory?
    private let now: UInt64
    private(set) var position: LogPosition
    private var offset: UInt64
    private(set) var chain: [Authenticator] = []
    /// The names of values that a rotation could not open.
    private(set) var unopened: Set<EntryName> = []
    /// The newest entry for each name in the records read so far. The entries' offsets refer to the old file.
    private var entries = RecentEntries()

    /// - Parameter keys: the keys with which values are resealed; nil if the values are copied unchanged.
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

    /// Reads and authenticates the records that have been appended since the last call. Returns the number of entries
    /// in these records. A record that is still being written is left for the next call.
    ///
    /// - Parameter isHurried: whether to leave a minor checkpoint and the records after it for the next call.
    mutating func read(isHurried: Bool = false) throws(LogError) -> Int {
        // Each call needs a new reader, since an earlier reader's buffer lacks the records that were appended later.
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

    /// Reads the appended records in at most eleven, usually shrinking rounds, until a round finds few new entries.
    mutating func readUntilFewAreLeft() throws(LogError) {
        for _ in 0...10 where try read() <= CompactionTail.entriesUnderLock { return }
    }

    /// Loads the pages of the entries that will be replaced into the page cache of `new`, the view of the new file.
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
            // A record's tree repeats earlier entries. Entries unchanged since the compaction's start are skipped. Even
            // without a box in this record, an entry may be new, such as a tombstone or a restored value.
            let isNew = entry.versions.contains { $0.offset >= record.offset }
            if !isNew, try known.find(entry.name) == entry { continue }
            entries.insert(entry)
            count += 1
        }
        return count
    }

    /// The indices of the newest entries, sorted by their values' offsets. Sorting by name would reveal the names'
    /// order to anyone who has both files. There may be millions of entries, so each is read on demand.
    private var ordered: [Int32] {
        entries.newest.map { (entries.inserted(Int($0)).content?.current.offset ?? 0, $0) }
            .sorted { $0.0 < $1.0 }.map { $0.1 }
    }

    /// Returns all entries read so far from the old file's new records, as one batch for the new file.
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
                // A version in the new file with the same nonce is the same version, since no two boxes share a nonce.
                if let moved = known?.versions.first(where: { $0.nonce == version.nonce }) {
                    version = moved
                    return boxes.append(nil)
                }
                // The new file lacks this version: it is newer than that file's checkpoint, or was dropped as too old.
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
            throw LogError(.conflict, "other processes wrote too much during the compaction")
        }
    }
}
