import LinuxSystem
import Sealing

/// What a verification has checked.
public struct VerificationReport: Hashable, Sendable, Encodable {
    /// The number of names that are present.
    public internal(set) var entries: Int
    /// The number of records since the last compaction.
    public internal(set) var records: Int
    /// Bytes that were authenticated.
    public internal(set) var bytes: Int

    package init(entries: Int = 0, records: Int = 0, bytes: Int = 0) {
        (self.entries, self.records, self.bytes) = (entries, records, bytes)
    }
}

extension SealedLog {
    /// Reads and authenticates everything.
    ///
    /// - Throws: `damaged`, with the first offset; `busy`, `unavailable`.
    package func verify(timeout: Duration, _ counter: UpkeepProgress? = nil) throws(LogError) -> VerificationReport {
        let store = try read { (view) throws(LogError) in view.store }.reopened()
        // The lock only serves to find the log's end: to read everything takes too long to keep others from writing.
        let lock = try store.lock(.shared, until: Deadline(after: timeout))
        let view = try LogView.settled(store, keys)
        lock.release()
        do throws(LogError) {
            let report = try Verifier(of: view, counter).run(to: view.end)
            memory?.forgetUpkeep()
            return report
        } catch {
            if error.code == .damaged { rememberFailure(error) }
            throw error
        }
    }
}

/// Reads and authenticates every byte of a vault: the checkpoint with all its pages and values, and every record with
/// its payload, its values and its tree. It follows no hint and trusts no memory.
private struct Verifier: ~Copyable {
    /// The log up to the records that have been verified.
    private var view: LogView
    private var report = VerificationReport()
    private var values: ValueOpener
    private let counter: UpkeepProgress?

    /// - Parameter view: a view that has followed the log to its end.
    init(of view: LogView, _ counter: UpkeepProgress? = nil) throws(LogError) {
        self.counter = counter
        self.view = LogView(
            store: view.store, keys: view.keys, header: view.header, authenticator: view.origin.authenticator)
        values = try ValueOpener(of: view.store, keys: view.keys)
    }

    /// - Parameter end: the log's end, as the view found it.
    /// - Throws: `damaged`, with the first offset; `unavailable`.
    consuming func run(to end: UInt64) throws(LogError) -> VerificationReport {
        counter?.begin(end)
        try verifyCheckpoint()
        var reader = view.reader
        while view.end < end {
            guard case .record(let record) = try reader.record(at: view.end, after: view.head) else {
                throw LogError.damaged("a record", at: view.end)
            }
            try verify(record, reader)
            view.apply(record)
            report.records += 1
            counter?.advance(by: record.frame.recordLength)
            report.bytes += Int(clamping: record.frame.recordLength)
        }
        try count()
        return report
    }

    private mutating func verifyCheckpoint() throws(LogError) {
        try view.checkHeaderCopy()
        let header = view.header
        let manifest = try view.manifest()
        guard UInt64(manifest.chain.count) <= header.sequence else { throw LogError.damaged("the manifest's chain") }
        var boxes = [header.manifest.offset..<header.manifest.offset + UInt64(header.manifest.length)]
        var cursor = try TreeCursor(root: header.root, loader: view.loader)
        while let entry = try cursor.next() {
            for version in entry.versions {
                try open(version, in: Limits.checkpointStart..<header.checkpointEnd)
                counter?.advance(by: UInt64(version.boxLength))
                boxes.append(version.offset..<version.offset + UInt64(version.boxLength))
            }
        }
        boxes += cursor.pages
        // A writer leaves no byte that does not belong to a page or a box.
        boxes.sort { $0.lowerBound < $1.lowerBound }
        var covered = Limits.checkpointStart
        for box in boxes {
            guard box.lowerBound == covered else { throw LogError.damaged("the checkpoint's parts", at: covered) }
            covered = box.upperBound
        }
        guard covered == header.checkpointEnd else { throw LogError.damaged("the checkpoint's parts", at: covered) }
        report.bytes += Int(clamping: covered)
    }

    private mutating func verify(_ record: Record, _ reader: borrowing RecordReader) throws(LogError) {
        guard try reader.payloadHolds(record) else { throw LogError.damaged("a payload", at: record.offset) }
        for entry in record.index.transactions.joined() {
            for version in entry.versions { try open(version, in: Limits.checkpointStart..<record.end) }
        }
        guard let tree = record.index.tree else { return }
        guard tree.header == view.origin.authenticator else {
            throw LogError.damaged("a minor checkpoint of another checkpoint", at: record.offset)
        }
        try verify(tree, of: record)
    }

    /// Checks that a tree contains what the records before it say, and that what is new in it opens.
    private mutating func verify(_ tree: RecordIndex.Tree, of record: Record) throws(LogError) {
        var replay = EntryMerge(
            recent: [view.recent], trees: [try TreeCursor(root: view.minor?.root, loader: view.loader)])
        var expected = try replay.next()
        var cursor = try TreeCursor(root: tree.root, loader: view.loader)
        var count: UInt64 = 0
        while let entry = try cursor.next() {
            count += 1
            let isKnown = expected?.name == entry.name
            let isSame = isKnown && expected == entry
            if let expected, expected.name < entry.name {
                throw LogError.damaged("a tree lacks an entry", at: record.offset)
            }
            if isKnown { expected = try replay.next() }
            if isSame { continue }
            try verify(entry, newIn: record)
        }
        guard expected == nil, count == tree.entries else {
            throw LogError.damaged("a tree lacks an entry", at: record.offset)
        }
        let payload = record.payload
        guard cursor.pages.allSatisfy({ payload.lowerBound <= $0.lowerBound && $0.upperBound <= payload.upperBound })
        else {
            throw LogError.damaged("a tree outside its record", at: record.offset)
        }
    }

    /// Checks an entry that a tree changes: its value is in the tree's record, or the name had it before.
    private mutating func verify(_ entry: Entry, newIn record: Record) throws(LogError) {
        let before = try view.find(entry.name)?.versions ?? []
        for version in entry.versions {
            let isKept = before.contains { $0.nonce == version.nonce }
            try open(version, in: isKept ? Limits.checkpointStart..<record.end : record.payload)
        }
    }

    private mutating func open(_ version: StoredVersion, in range: Range<UInt64>) throws(LogError) {
        let length = UInt64(version.boxLength)
        guard version.offset >= range.lowerBound, version.offset <= range.upperBound,
            range.upperBound - version.offset >= length
        else { throw LogError.damaged("a value outside its offset", at: version.offset) }
        try values.open(version)
    }

    /// Counts the present names, as a list shows them.
    private mutating func count() throws(LogError) {
        var merge = try view.entries()
        while let entry = try merge.next() {
            if !entry.isRemoved { report.entries += 1 }
        }
    }
}
