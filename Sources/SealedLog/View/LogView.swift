import LinuxSystem
import Sealing

/// One process's knowledge of a vault file: its header, how far its chain of records was followed, and what they say.
///
/// A copy shows the log as it was. ``refresh()`` follows what was appended.
struct LogView: Sendable {
    let store: any RecordStore
    let keys: KeyRing
    let header: Header
    /// The position that the chain of records begins with.
    let origin: LogPosition
    /// The end of the newest record, where the next one begins.
    var end: UInt64
    /// The position of the newest record, or ``origin``.
    var head: LogPosition
    /// The offset of the head's authenticator.
    var headOffset = UInt64(Header.macOffset)
    /// The newest position that is known to be durable: the head if this process wrote it, or if the store shows only
    /// what is durable; otherwise the one before. The head of a file that was only read may vanish, by power loss or
    /// because its writer's flush failed.
    var durable: LogPosition
    /// The newest position that this process has written, or flushed, and remembered, as far as that was possible.
    var confirmed: LogPosition?
    /// The totals of the newest record; nil before the first, when the manifest has them.
    var totals: Totals?
    /// The newest minor checkpoint's tree, and its payload's size in bytes.
    var minor: RecordIndex.Tree?
    var minorSize: UInt64 = 0
    var recent = RecentEntries()
    /// Counts from the newest checkpoint, minor or not.
    var recordsSinceMinor = 0
    /// Consecutive positions up to the head.
    var passed: [LogPosition]
    var isCompactionAnnounced = false
    /// Whether the store's location was asked since the log was opened from what this machine has kept of it.
    var isCompared = false
    /// Whether there are bytes other than zeros behind the end: the next writer clears them first.
    var needsClearing = false
    /// When the path was last looked at, by the coarse clock, in nanoseconds.
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

    /// Whether the head is durable and remembered, as far as that is possible, so that it can be given out.
    var isKnown: Bool { confirmed == head }
    /// Whether this machine, if it remembers the vault, knows its location too.
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
        // Enough to recognize a remembered position that is a little behind.
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
    /// Whether the payload need not be read: it is large, and the record is known to be durable.
    func needsNoCheck(_ durable: LogPosition?) -> Bool { position == durable && frame.payloadLength > 1 << 20 }
}

extension LogView {
    /// Shows another log, or this one anew. How many pages are kept stays.
    mutating func replace(by new: LogView) {
        let limit = cache.limit
        self = new
        cache.limit = limit
    }
}

// MARK: - Following

extension LogView {
    /// Follows what was appended; false if something is doubtful.
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

    /// Whether the log was followed to an end that the store has stated. Another thread may have learned what follows.
    private func reaches(_ stated: StatedEnd) -> Bool {
        stated.offset == end
            ? stated.position == head : stated.offset < end && stated.position.sequence < head.sequence
    }

    /// Returns what is wrong with this view if another process of this machine has kept more, or another history, which
    /// must not be written over. Otherwise the copy that this machine keeps goes on with this view.
    func alarmOfCopy() throws(LogError) -> LogError? {
        guard let copy = store.machineCopy else { return nil }
        let kept = copy.head
        if let alarm = try alarm(against: kept) { return alarm }
        copy.follow(to: head, over: kept)
        return nil
    }

    /// Applies each record once the next one follows: that one was written only after the first was durable. The last
    /// one's payload is checked instead. Returns what is at the end: no record.
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
    /// if another file was copied over this one. A part of its payload may be gone: see ``newestRecordIsWhole()``.
    func headIsThere() throws(LogError) -> Bool {
        let tag = try store.available(at: headOffset, upTo: Authenticator.size)
        return tag.count == Authenticator.size && tag.withUnsafeBytes { Authenticator($0) } == head.authenticator
    }

    /// Returns whether the newest record can be relied on, while no process can write. A record that this process has
    /// not written is read again: its writer may have died while it took the record back, from its end on.
    func newestRecordIsWhole() throws(LogError) -> Bool {
        guard durable != head, let previous = passed.dropLast().last else {
            return try headIsThere()
        }
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
    func alarm(against position: LogPosition?) throws(LogError) -> LogError? {
        guard let position else { return nil }
        guard position.sequence <= head.sequence else {
            let host = store.server?.name.map { " on \($0)" } ?? ""
            let lack = "change \(head.sequence)\(host), and this machine has seen change \(position.sequence)"
            guard store.server?.isStandby == true else { return LogError(.rolledBack, lack) }
            return LogError(
                .serverRefused,
                "A standby lags behind: \(store.path) has \(lack). Try again, or name the primary.")
        }
        return try includes(position) == .excluded ? LogError(.diverged, "change \(position.sequence)") : nil
    }
}

// MARK: - Entries and values

extension LogView {
    /// Finds the newest entry of a name, also a tombstone or an expired one; nil if there never was one.
    mutating func find(_ name: EntryName) throws(LogError) -> Entry? {
        if let entry = recent.find(name) { return entry }
        let found = try name.bytes.withRawBytes { (name) throws(LogError) in try search(name) }
        return if let found { try found.leaf.entry(found.cell) } else { nil }
    }

    /// Finds the value of a name that is present now; nil if none is.
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
            (reference, level) = (try page.child(cell.index), page.level - 1)
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

    /// Returns all entries from a name on, in the order of their names, tombstones too.
    func entries(from start: [UInt8] = []) throws(LogError) -> EntryMerge { try items(from: start) }

    func items<Item>(from start: [UInt8]) throws(LogError) -> Merge<Item> {
        let trees = try [minor?.root, header.root].map { (root) throws(LogError) in
            try TreeCursor(root: root, loader: loader, from: start)
        }
        return Merge(recent: [recent.cursor(from: start)], trees: trees)
    }
}
