import LinuxSystem
import Sealing

/// One process's knowledge of a vault file: its header, how far its chain of records was followed, and what they say.
///
/// A plain value: a copy shows the log as it was. ``refresh()`` follows what was appended.
struct LogView: Sendable {
    let store: any RecordStore
    let keys: KeyRing
    let header: Header
    /// The position that the chain of records begins with.
    let origin: LogPosition
    /// The end of the newest record, where the next one begins.
    var end: UInt64
    /// The position of the newest record, or of the header.
    var head: LogPosition
    /// The offset of the head's authenticator.
    var headOffset = UInt64(Header.macOffset)
    /// The newest position that is known to be on the disk: the one before the head, or the head if this process wrote
    /// it. A head that was only read may vanish, by power loss or because its writer's flush failed.
    var durable: LogPosition
    /// The newest position that a reader here has flushed and remembered, as far as that was possible.
    var confirmed: LogPosition?
    /// The totals of the newest record; nil before the first, when the manifest has them.
    var totals: Totals?
    /// The newest minor checkpoint's tree.
    var minor: RecordIndex.Tree?
    /// The payload of the newest minor checkpoint, in bytes.
    var minorSize: UInt64 = 0
    var recent = RecentEntries()
    /// The number of records after the newest checkpoint, minor or not.
    var recordsSinceMinor = 0
    /// Consecutive positions up to the head.
    var passed: [LogPosition]
    /// Whether a writer has announced that it is about to replace the file.
    var isCompactionAnnounced = false
    /// Whether there are bytes other than zeros behind the end: the next writer clears them first.
    var needsClearing = false
    /// When the path was last looked at, in milliseconds of the coarse clock.
    var lookedAtPath: UInt64 = 0
    var cache = PageCache()

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

    var reader: RecordReader { RecordReader(store: store, keys: keys, vaultID: header.vaultID) }
    var loader: PageLoader { PageLoader(store: store, keys: keys) }

    /// The bytes of the newest record; meaningless before the first.
    var newestRecord: Range<UInt64> { headOffset - UInt64(Frame.headSize)..<end }

    /// Whether this process wrote the newest record, or has confirmed it.
    var isKnown: Bool { durable == head || confirmed == head }

    var file: CheckpointFile { CheckpointFile(origin: origin.authenticator, identity: store.identity) }

    /// Takes over a record that is known to be whole.
    mutating func apply(_ record: Record) {
        end = record.end
        durable = head
        head = record.position
        headOffset = record.offset + UInt64(Frame.headSize)
        passed.append(head)
        // Enough to recognize a remembered position that is a little behind.
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

/// A file together with the checkpoint in it: a file that is overwritten in place keeps its identity.
struct CheckpointFile: Hashable, Sendable {
    let origin: Authenticator
    let identity: FileStatus.Identity?
}

// MARK: - Checkpoint

extension LogView {
    /// Reads the manifest of the checkpoint.
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

    /// - Throws: `damaged` if the header's copy differs from the header.
    func checkHeaderCopy() throws(LogError) {
        guard Header.copyHolds(in: try store.bytes(at: 0, count: 2 * Header.size)) else {
            throw LogError.damaged("the header's copy", at: UInt64(Header.copyOffset))
        }
    }

    func currentTotals() throws(LogError) -> Totals {
        if let totals { return totals }
        return try manifest().totals
    }

    /// Whether dead bytes or the minor checkpoint have grown beyond their share of the file.
    var isCompactionDue: Bool {
        guard let totals else { return false }
        if let minor, minor.entries > Limits.minorEntriesFloor, minor.entries > totals.entries / 16 { return true }
        if minorSize > Limits.minorSize { return true }
        return totals.deadBytes > Limits.deadBytesFloor && totals.deadBytes > totals.liveBytes / 2
    }
}

// MARK: - History

extension LogView {
    /// Returns whether the history that this view knows includes a position.
    func includes(_ position: LogPosition) throws(LogError) -> Inclusion {
        if let first = passed.first, position.sequence >= first.sequence {
            let index = position.sequence - first.sequence
            return index < UInt64(passed.count) && passed[Int(index)] == position ? .included : .excluded
        }
        if position == origin { return .included }
        guard position.sequence < origin.sequence else { return .unknown }
        return try manifest().includes(position, before: origin)
    }

    /// Returns what is wrong with this view if a position is known to have been durable: the view is older, or it has
    /// another history. nil if nothing is.
    func alarm(against position: LogPosition) throws(LogError) -> LogError? {
        guard position.sequence <= head.sequence else {
            return LogError(
                .rolledBack, "change \(head.sequence), and this machine has seen change \(position.sequence)")
        }
        return try includes(position) == .excluded ? LogError(.diverged, "change \(position.sequence)") : nil
    }

    func agrees(with seen: LogPosition?) throws(LogError) -> Bool {
        guard let seen, seen != head else { return true }
        return try alarm(against: seen) == nil
    }
}

// MARK: - Entries and values

extension LogView {
    /// Finds the newest entry of a name, a tombstone too; nil if there never was one.
    mutating func find(_ name: EntryName) throws(LogError) -> Entry? {
        if let entry = recent.find(name) { return entry }
        return try name.bytes.withRawBytes { (name) throws(LogError) in
            try search(name) { (page, cell) throws(Malformed) in try page.entry(cell) }
        }
    }

    /// Finds the value of a name; nil if it is absent.
    mutating func findVersion(_ name: UnsafeRawBufferPointer) throws(LogError) -> StoredVersion? {
        if let entry = recent.find(name) { return entry.content?.current }
        return try search(name) { (page, cell) throws(Malformed) in try page.currentVersion(cell) } ?? nil
    }

    /// Searches the trees for a name, the newer one first; nil if it is in neither.
    private mutating func search<Result>(
        _ name: UnsafeRawBufferPointer, _ read: (Page, Int) throws(Malformed) -> Result
    ) throws(LogError) -> Result? {
        if let minor, let found = try search(name, below: minor.root, read) { return found }
        guard let root = header.root else { return nil }
        return try search(name, below: root, read)
    }

    private mutating func search<Result>(
        _ name: UnsafeRawBufferPointer, below root: PageReference, _ read: (Page, Int) throws(Malformed) -> Result
    ) throws(LogError) -> Result? {
        var (reference, level) = (root, UInt8?.none)
        while true {
            let page = try page(reference, level: level)
            do throws(Malformed) {
                guard let cell = try page.lastCell(notAfter: name) else { return nil }
                if page.isLeaf { return cell.isExact ? try read(page, cell.index) : nil }
                reference = try page.child(cell.index)
                level = page.level - 1
            } catch { throw LogError.damaged("a page of the index (\(error.what))", at: reference.offset) }
        }
    }

    private mutating func page(_ reference: PageReference, level: UInt8?) throws(LogError) -> Page {
        if let kept = cache.page(at: reference.offset) { return kept }
        let page = try loader.load(reference, level: level)
        cache.keep(page, at: reference.offset)
        return page
    }

    /// Copies the box of a value.
    mutating func copy(_ version: StoredVersion, into box: UnsafeMutableRawBufferPointer) throws(LogError) {
        try cache.copy(from: version.offset, into: box, of: store, end: end)
    }

    mutating func box(of version: StoredVersion) throws(LogError) -> [UInt8] {
        var box = [UInt8](repeating: 0, count: version.boxLength)
        try box.withMutableRawBytes { (box) throws(LogError) in try copy(version, into: box) }
        return box
    }

    /// Returns all entries from a name on, in the order of their names, tombstones too.
    func entries(from start: [UInt8] = []) throws(LogError) -> EntryMerge {
        EntryMerge(
            recent: [recent],
            trees: [
                try TreeCursor(root: minor?.root, loader: loader, from: start),
                try TreeCursor(root: header.root, loader: loader, from: start),
            ], from: start)
    }
}
