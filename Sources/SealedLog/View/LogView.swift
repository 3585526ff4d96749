import LinuxSystem
import Sealing

/// The state of a vault file in one process: its header, the records that were followed, and their contents.
///
/// A copy of the view keeps showing the log as it was. ``refresh()`` follows appended records.
struct LogView: Sendable {
    let store: any RecordStore
    let keys: KeyRing
    let header: Header
    /// The position before the first record: the header's.
    let origin: LogPosition
    /// The end of the newest record, where the next one begins.
    var end: UInt64
    /// The position of the newest record, or ``origin``.
    var head: LogPosition
    /// The offset of the head's authenticator.
    var headOffset = UInt64(Header.macOffset)
    /// The newest position that is known to be durable. It is the head if this process wrote it, or if the store shows
    /// only durable records; otherwise it is the position before. The head of a file that was only read may vanish, by
    /// a power loss or because its writer's flush failed.
    var durable: LogPosition
    /// The newest position that this process has written or flushed, and remembered as far as possible.
    var confirmed: LogPosition?
    /// The totals of the newest record; nil before the first record, when only the manifest has them.
    var totals: Totals?
    /// The newest minor checkpoint's tree, and its payload's size in bytes.
    var minor: RecordIndex.Tree?
    var minorSize: UInt64 = 0
    var recent = RecentEntries()
    var recordsSinceMinor = 0
    /// Consecutive positions up to the head.
    var passed: [LogPosition]
    var isCompactionAnnounced = false
    /// Whether the log was compared with the store since it was opened from the copy that this machine keeps.
    var isCompared = false
    /// Whether bytes other than zeros follow the end. The next writer clears them first.
    var needsClearing = false
    /// The time of the last check of the path, by the coarse clock, in nanoseconds.
    var lookedAtPath: Int64 = 0
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

    var reader: RecordReader { RecordReader(store: store, keys: keys, vaultID: header.vaultID, name: header.name) }
    var loader: PageLoader { PageLoader(store: store, keys: keys) }

    /// The bytes of the newest record; meaningless before the first.
    var newestRecord: Range<UInt64> { headOffset - UInt64(Frame.headSize)..<end }

    /// Whether the head is durable and remembered as far as possible, so that it can be returned.
    var isKnown: Bool { confirmed == head }
    /// Whether this machine, if it remembers the vault, remembers its location too.
    var isLocationKnown = true

    var unlocked: UnlockedVault { UnlockedVault(vaultID: header.vaultID, keys: keys, slots: header.slots) }

    var file: CheckpointFile { CheckpointFile(origin: origin.authenticator, identity: store.identity) }

    /// Takes over a record that is known to be whole.
    mutating func apply(_ record: Record) {
        end = record.end
        durable = head
        head = record.position
        headOffset = record.offset + UInt64(Frame.headSize)
        passed.append(head)
        // That is enough to recognize a remembered position that is slightly older.
        if passed.count > 2 * Limits.recordsBeforeMinorCheckpoint.upperBound {
            passed.removeFirst(Limits.recordsBeforeMinorCheckpoint.upperBound)
        }
        totals = record.index.totals
        isCompactionAnnounced = record.index.isNotice
        if let tree = record.index.tree {
            minor = tree
            minorSize = record.frame.payloadLength
            recent = RecentEntries()
            recordsSinceMinor = 0
        } else {
            for entry in record.index.transactions.joined() { recent.insert(entry) }
            recordsSinceMinor += 1
        }
    }
}

extension Record {
    /// Returns whether the payload need not be read: it is large, and the record is known to be durable.
    func needsNoCheck(_ durable: LogPosition?) -> Bool { position == durable && frame.payloadLength > 1 << 20 }
}

extension LogView {
    /// Shows another log, or the same one again. The limit of the cache stays.
    mutating func replace(by new: LogView) {
        let limit = cache.limit
        self = new
        cache.limit = limit
    }
}

// MARK: - Following

extension LogView {
    /// Follows the appended records. Returns false if something is doubtful.
    mutating func refresh() throws(LogError) -> Bool {
        switch try store.growth(after: end, head) {
        case .none: break
        case .some(let stated, let areDurable):
            guard try follow(upTo: stated) else { return false }
            if areDurable { durable = head }
        case .doubtful: return false
        }
        isCompared = true
        return true
    }

    private mutating func follow(upTo stated: StatedEnd?) throws(LogError) -> Bool {
        var reader = reader
        guard case .nothing = try catchUp(&reader), stated.map(reaches) ?? true else { return false }
        return try alarmOfCopy().map { $0.code == .rolledBack } ?? true
    }

    /// Returns whether the log was followed to the end that the store has stated, or further, by another thread.
    private func reaches(_ stated: StatedEnd) -> Bool {
        stated.offset == end
            ? stated.position == head : stated.offset < end && stated.position.sequence < head.sequence
    }

    /// Returns an error if another process of this machine has saved a newer end or another history, which must not be
    /// overwritten. Otherwise the copy that this machine keeps continues with this view.
    func alarmOfCopy() throws(LogError) -> LogError? {
        guard let copy = store.machineCopy else { return nil }
        let kept = copy.head
        if let alarm = try alarm(against: kept) { return alarm }
        copy.follow(to: head, over: kept)
        return nil
    }

    /// Applies each record once the next one follows: that one was written only after the first was durable. The
    /// payload of the last record is checked instead. Returns the finding at the end, which is not a record.
    mutating func catchUp(
        _ reader: inout RecordReader, durable: LogPosition? = nil
    ) throws(LogError) -> RecordReader.Finding {
        var last: Record?
        var finding = try reader.record(at: end, after: head)
        while case .record(let next) = finding {
            if let tree = next.index.tree, tree.header != origin.authenticator {
                throw LogError.damaged("a minor checkpoint of another checkpoint", at: next.offset)
            }
            if let last { apply(last) }
            last = next
            finding = try reader.record(at: next.end, after: next.position)
        }
        guard let last else { return finding }
        guard try last.needsNoCheck(durable) ? true : reader.payloadHolds(last) else {
            let torn: StaticString = "a payload does not hold"
            if case .foreign = finding { return .foreign(torn) }
            return .failing(torn)
        }
        apply(last)
        return finding
    }

    /// Returns whether the newest record is still there. It is not if its writer took it back after a failed flush, or
    /// if another file was copied over this one. Part of its payload may be missing: see ``newestRecordIsWhole()``.
    func headIsThere() throws(LogError) -> Bool {
        let tag = try store.available(at: headOffset, upTo: Authenticator.size)
        return tag.count == Authenticator.size && tag.withUnsafeBytes { Authenticator($0) } == head.authenticator
    }

    /// Returns whether the newest record can be relied on, while no process can write. A record of another process is
    /// read again: its writer may have died while it took the record back, from its end on.
    func newestRecordIsWhole() throws(LogError) -> Bool {
        guard durable != head, let previous = passed.dropLast().last else { return try headIsThere() }
        var reader = reader
        guard case .record(let record) = try reader.record(at: newestRecord.lowerBound, after: previous) else {
            return false
        }
        guard record.position == head else { return false }
        return try reader.payloadHolds(record)
    }
}

// MARK: - History

extension LogView {
    /// Returns whether the history includes a position, as far as this view has read it.
    func includes(_ position: LogPosition) throws(LogError) -> Inclusion {
        if let first = passed.first, position.sequence >= first.sequence {
            let index = position.sequence - first.sequence
            return index < UInt64(passed.count) && passed[Int(index)] == position ? .included : .excluded
        }
        if position == origin { return .included }
        guard position.sequence < origin.sequence else { return .unknown }
        return try manifest().includes(position, before: origin)
    }

    /// Returns an error if a position that is known to have been durable is missing: this view is older, or it has
    /// another history. Returns nil if neither is true.
    func alarm(against position: LogPosition?) throws(LogError) -> LogError? {
        guard let position else { return nil }
        guard position.sequence <= head.sequence else {
            let host = store.server?.name.map { " on \($0)" } ?? ""
            let lack = "change \(head.sequence)\(host), and this machine has seen change \(position.sequence)"
            guard store.server?.isStandby == true else { return LogError(.rolledBack, lack) }
            return LogError(
                .serverRefused, "A standby lags behind: \(store.path) has \(lack). Try again, or name the primary.")
        }
        return try includes(position) == .excluded ? LogError(.diverged, "change \(position.sequence)") : nil
    }
}

// MARK: - Entries and values

extension LogView {
    /// Finds the newest entry of a name, which may be a tombstone or expired; nil if there never was one.
    mutating func find(_ name: EntryName) throws(LogError) -> Entry? {
        if let entry = recent.find(name) { return entry }
        let found = try name.bytes.withRawBytes { (name) throws(LogError) in try search(name) }
        return if let found { try found.leaf.entry(found.cell) } else { nil }
    }

    /// Finds the value of a name that is present now; nil if there is none.
    mutating func findVersion(_ name: UnsafeRawBufferPointer) throws(LogError) -> StoredVersion? {
        let recent = recent.findVersion(name, at: Clock.milliseconds)
        if recent.isFound { return recent.version }
        guard let found = try search(name) else { return nil }
        return try found.leaf.currentVersion(found.cell, at: Clock.milliseconds)
    }

    /// Searches the trees for a name, the newer one first; nil if it is in neither.
    private mutating func search(_ name: UnsafeRawBufferPointer) throws(LogError) -> (leaf: Page, cell: Int)? {
        if let found = try search(name, below: minor?.root) { return found }
        return try search(name, below: header.root)
    }

    private mutating func search(
        _ name: UnsafeRawBufferPointer, below root: PageReference?
    ) throws(LogError) -> (leaf: Page, cell: Int)? {
        guard var reference = root else { return nil }
        var level: UInt8?
        while true {
            let page = try page(reference, level: level)
            guard let cell = try page.lastCell(notAfter: name) else { return nil }
            if page.isLeaf { return cell.isExact ? (page, cell.index) : nil }
            reference = try page.child(cell.index)
            level = page.level - 1
        }
    }

    private mutating func page(_ reference: PageReference, level: UInt8?) throws(LogError) -> Page {
        if let kept = cache.page(at: reference.offset) { return kept }
        let page = try loader.load(reference, level: level)
        cache.keep(page, at: reference.offset)
        return page
    }

    mutating func copy(_ version: StoredVersion, into box: UnsafeMutableRawBufferPointer) throws(LogError) {
        try cache.copy(from: version.offset, into: box, of: store, end: end)
    }

    mutating func sealed(_ version: StoredVersion) throws(LogError) -> SealedValue {
        var box = [UInt8](repeating: 0, count: version.boxLength)
        try box.withMutableRawBytes { (box) throws(LogError) in try copy(version, into: box) }
        return SealedValue(version: version, box: box[...], keys: keys, store: store)
    }

    /// Returns all entries from a name on in the order of their names, including tombstones.
    func entries(from start: [UInt8] = []) throws(LogError) -> EntryMerge { try items(from: start) }

    func items<Item>(from start: [UInt8]) throws(LogError) -> Merge<Item> {
        let trees = try [minor?.root, header.root].map { (root) throws(LogError) in
            try TreeCursor(root: root, loader: loader, from: start)
        }
        return Merge(recent: [recent.cursor(from: start)], trees: trees)
    }
}
