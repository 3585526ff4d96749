import LinuxSystem
import Sealing

/// The state of a vault file in one process: its header, the records followed so far, and their contents.
///
/// A view is a value: ``refresh()`` adds newly appended records only to the view on which it is called, not to copies.
struct LogView: Sendable {
    let store: any RecordStore
    let keys: KeyRing
    let header: Header
    /// The header's position in the log. The first record's position directly follows it.
    let origin: LogPosition
    /// The offset at which the newest record ends and the next one begins.
    var end: UInt64
    /// The position of the newest record; ``origin`` if there is none.
    var head: LogPosition
    /// The offset of the newest record's authenticator, or of the header's if there is no record.
    var headOffset = UInt64(Header.macOffset)
    /// The newest position known to be durable: the head if there are no records, if this process wrote the newest one,
    /// if the rollback memory showed during opening that it was flushed, or if the store returns only durable records.
    /// Otherwise, it is the previous one: the head may be lost in a power loss or if its writer's flush fails.
    var durable: LogPosition
    /// The newest position that this process has written, read from the rollback memory, or confirmed by
    /// `confirmNewestRecord`, which does not always flush it; see ``durable``. It is stored in that memory if possible.
    var confirmed: LogPosition?
    /// The newest record's totals; nil if the log has no records, in which case only the manifest has totals.
    var totals: Totals?
    /// The newest minor checkpoint's tree, and the size of that checkpoint's payload in bytes.
    var minor: RecordIndex.Tree?
    var minorSize: UInt64 = 0
    var recent = RecentEntries()
    var recordsSinceMinor = 0
    /// Consecutive log positions, the last of which is the newest record's.
    var passed: [LogPosition]
    var isCompactionAnnounced = false
    /// Whether the log has been compared with the store since it was opened from the copy on this machine.
    var isCompared = false
    /// Whether nonzero bytes follow the log's end. If so, the next writer clears them before it appends a record.
    var needsClearing = false
    /// The time of the last check that the store is still at its path, in nanoseconds of the kernel's coarse clock.
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

    /// The range of the newest record's bytes. It is meaningless if the log has no records.
    var newestRecord: Range<UInt64> { headOffset - UInt64(Frame.headSize)..<end }

    /// Whether values may be returned: the head is durable and, if possible, stored in the rollback memory.
    var isKnown: Bool { confirmed == head }
    /// Whether the rollback memory has a record for the vault's location; true if there is no rollback memory.
    var isLocationKnown = true

    var unlocked: UnlockedVault { UnlockedVault(vaultID: header.vaultID, keys: keys, slots: header.slots) }

    var file: CheckpointFile { CheckpointFile(origin: origin.authenticator, identity: store.identity) }

    /// Updates the view with the next record, which is known to be complete.
    mutating func apply(_ record: Record) {
        end = record.end
        durable = head
        head = record.position
        headOffset = record.offset + UInt64(Frame.headSize)
        passed.append(head)
        // Drops the oldest positions. The rest are enough to recognize a remembered position shortly before the head.
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
    /// Returns whether reading the payload can be skipped, because it is large and the record is known to be durable.
    func needsNoCheck(_ durable: LogPosition?) -> Bool { position == durable && frame.payloadLength > 1 << 20 }
}

extension LogView {
    /// Replaces this view with `new`, but keeps this view's cache limit.
    mutating func replace(by new: LogView) {
        let limit = cache.limit
        self = new
        cache.limit = limit
    }
}

// MARK: - Following

extension LogView {
    /// Adds all new records. Returns false if the store must be reopened because its end differs or it was replaced.
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

    /// Returns whether this view reaches the end that the store reported. Another thread may have read even further.
    private func reaches(_ stated: StatedEnd) -> Bool {
        stated.offset == end
            ? stated.position == head : stated.offset < end && stated.position.sequence < head.sequence
    }

    /// Extends this machine's copy to this view's head. If another process has saved a newer end or a different history
    /// to the copy, leaves the copy unchanged and returns an error.
    func alarmOfCopy() throws(LogError) -> LogError? {
        guard let copy = store.machineCopy else { return nil }
        let kept = copy.head
        if let alarm = try alarm(against: kept) { return alarm }
        copy.follow(to: head, over: kept)
        return nil
    }

    /// Applies all records up to the log's end, and returns the kind of bytes that follow. Checks only the last
    /// record's payload, because writers append a record only after the previous one is durable.
    mutating func catchUp(
        _ reader: inout RecordReader, durable: LogPosition? = nil
    ) throws(LogError) -> RecordReader.Finding {
        var last: Record?
        var finding = try reader.record(at: end, after: head)
        while case .record(let next) = finding {
            if let tree = next.index.tree, tree.header != origin.authenticator {
                throw LogError.damaged("a minor checkpoint that belongs to another checkpoint", at: next.offset)
            }
            if let last { apply(last) }
            last = next
            finding = try reader.record(at: next.end, after: next.position)
        }
        guard let last else { return finding }
        guard try last.needsNoCheck(durable) ? true : reader.payloadHolds(last) else {
            let torn: StaticString = "a payload does not match its hash"
            if case .foreign = finding { return .foreign(torn) }
            return .failing(torn)
        }
        apply(last)
        return finding
    }

    /// Returns whether the newest record still exists. Its writer may have removed it after a failed flush, or another
    /// file may have been copied over this one. Does not check the whole payload; see ``newestRecordIsWhole()``.
    func headIsThere() throws(LogError) -> Bool {
        let tag = try store.available(at: headOffset, upTo: Authenticator.size)
        return tag.count == Authenticator.size && tag.withUnsafeBytes { Authenticator($0) } == head.authenticator
    }

    /// Returns whether the newest record is complete. No process may write during the call. If another process wrote
    /// the record, reads it again: that process may have died while removing it by zeroing it from back to front.
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
    /// Returns whether the history includes `position`; `unknown` if this view has not read that part of the history.
    func includes(_ position: LogPosition) throws(LogError) -> Inclusion {
        if let first = passed.first, position.sequence >= first.sequence {
            let index = position.sequence - first.sequence
            return index < UInt64(passed.count) && passed[Int(index)] == position ? .included : .excluded
        }
        if position == origin { return .included }
        guard position.sequence < origin.sequence else { return .unknown }
        return try manifest().includes(position, before: origin)
    }

    /// Returns an error if the log lacks a position that is known to have been durable, because the log is older or has
    /// a different history. Otherwise returns nil.
    func alarm(against position: LogPosition?) throws(LogError) -> LogError? {
        guard let position else { return nil }
        guard position.sequence <= head.sequence else {
            let host = store.server?.name.map { " on \($0)" } ?? ""
            let lack = "change \(head.sequence)\(host), and this machine has seen change \(position.sequence)"
            guard store.server?.isStandby == true else { return LogError(.rolledBack, lack) }
            return LogError(
                .serverRefused, "A standby lags behind: \(store.path) has \(lack). Try again, or use the primary.")
        }
        return try includes(position) == .excluded ? LogError(.diverged, "change \(position.sequence)") : nil
    }
}

// MARK: - Entries and values

extension LogView {
    /// Finds a name's newest entry, which may be a tombstone or expired. Returns nil if the name never had an entry.
    mutating func find(_ name: EntryName) throws(LogError) -> Entry? {
        if let entry = recent.find(name) { return entry }
        let found = try name.bytes.withRawBytes { (name) throws(LogError) in try search(name) }
        return if let found { try found.leaf.entry(found.cell) } else { nil }
    }

    /// Finds a name's current value; nil if the name has none.
    mutating func findVersion(_ name: UnsafeRawBufferPointer) throws(LogError) -> StoredVersion? {
        let recent = recent.findVersion(name, at: Clock.milliseconds)
        if recent.isFound { return recent.version }
        guard let found = try search(name) else { return nil }
        return try found.leaf.currentVersion(found.cell, at: Clock.milliseconds)
    }

    /// Searches the minor checkpoint's tree for a name, then the checkpoint's. Returns nil if neither contains it.
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

    /// Returns all entries sorted by name, including tombstones, from the name `start` on.
    func entries(from start: [UInt8] = []) throws(LogError) -> EntryMerge { try items(from: start) }

    func items<Item>(from start: [UInt8]) throws(LogError) -> Merge<Item> {
        let trees = try [minor?.root, header.root].map { (root) throws(LogError) in
            try TreeCursor(root: root, loader: loader, from: start)
        }
        return Merge(recent: [recent.cursor(from: start)], trees: trees)
    }
}
