import Sealing

/// What one process knows of a vault file: its header, how far its chain has been followed, and what that says.
///
/// A plain value: whoever holds one sees the log as it was. ``catchUp(settling:)`` follows what others appended.
struct LogView: Sendable {
    let store: any RecordStore
    let keys: KeyRing
    let header: Header
    /// The position that the chain of records begins with.
    let origin: LogPosition
    /// Where the next record goes.
    var end: UInt64
    /// The newest record, or the header.
    var head: LogPosition
    /// Where the authenticator of the newest record lies, or that of the header.
    var headPlace = UInt64(Header.macOffset)
    /// The newest position that is known to be on the disk: the one before the head, or the head if this process wrote
    /// it. A head that was only read may vanish, by power loss or because its writer's flush failed.
    var durable: LogPosition
    /// The newest position that was made to last by a reader and remembered, as far as that was possible; nil if none
    /// was.
    var confirmed: LogPosition?
    /// As the newest record says; nil before the first, when the manifest says it.
    var totals: Totals?
    /// The newest minor checkpoint's tree.
    var minor: RecordIndex.Tree?
    var recent = RecentEntries()
    /// The payload of its record, in bytes.
    var minorSize: UInt64 = 0
    /// Records after the newest checkpoint, minor or not.
    var recordsSinceMinor = 0
    /// Moments that were passed on the way, without a gap, the head last.
    var passed: [LogPosition]
    /// Whether a writer has said that it is about to replace the file.
    var isCompactionAnnounced = false
    /// Whether bytes other than zeros lie behind the end: the next writer clears them first.
    var needsClearing = false
    /// When the path was last looked at, in milliseconds of the coarse clock.
    var lookedAtPath: UInt64 = 0
    var cache = PageCache()

    /// Where the newest record lies; of no meaning before the first.
    var newestRecord: Range<UInt64> { headPlace - UInt64(Frame.headSize)..<end }

    var loader: PageLoader { PageLoader(store: store, keys: keys) }

    init(store: any RecordStore, keys: KeyRing, header: Header, authenticator: Authenticator) {
        self.store = store
        self.keys = keys
        self.header = header
        origin = LogPosition(sequence: header.sequence, authenticator: authenticator)
        end = header.checkpointEnd
        head = origin
        durable = origin
        passed = [origin]
    }

    /// The manifest of the checkpoint.
    ///
    /// - Throws: `damaged`, `unavailable`.
    func manifest() throws(LogError) -> Manifest {
        let extent = header.manifest
        let box = try store.bytes(at: extent.offset, count: extent.length)
        guard let bytes = box.withUnsafeBytes({ keys.open($0, for: .page, nonce: extent.nonce) }) else {
            throw LogError.damaged("the manifest", at: extent.offset)
        }
        do throws(Malformed) {
            return try Manifest(parsing: bytes, slotCount: header.slots.count)
        } catch { throw LogError.damaged("the manifest (\(error.what))", at: extent.offset) }
    }

    /// - Throws: `damaged` if the header's copy is not the header.
    func checkHeaderCopy() throws(LogError) {
        guard Header.copyHolds(in: try store.bytes(at: 0, count: 2 * Header.size)) else {
            throw LogError.damaged("the header's copy", at: UInt64(Header.copyOffset))
        }
    }

    func currentTotals() throws(LogError) -> Totals {
        if let totals { return totals }
        return try manifest().totals
    }

    /// Takes account of a record that is known to be whole.
    mutating func apply(_ record: Record) {
        end = record.end
        durable = head
        head = record.position
        headPlace = record.offset + UInt64(Frame.headSize)
        passed.append(head)
        // Enough to judge a memory that is a little behind.
        if passed.count > 2 * Limits.recordsBeforeMinorCheckpoint.upperBound {
            passed.removeFirst(Limits.recordsBeforeMinorCheckpoint.upperBound)
        }
        totals = record.index.totals
        isCompactionAnnounced = record.index.isNotice
        if let tree = record.index.tree {
            minor = tree
            minorSize = record.frame.payloadLength
            recent.removeAll()
            recordsSinceMinor = 0
        } else {
            for entries in record.index.transactions {
                for entry in entries { recent.insert(entry) }
            }
            recordsSinceMinor += 1
        }
    }
}
