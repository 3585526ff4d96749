import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// What a name is to become; nil: it is removed.
typealias Wish = (name: String, value: [UInt8]?)

extension SealedLog {
    @discardableResult
    func merge(
        _ other: SealedLog, isPinned: Bool = true, taking taken: NamesTaken = .none,
        keepingKeys kept: Set<[UInt8]> = [], keeping keptAttribute: String? = nil, timeout: Duration,
        _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> MergeReport {
        try merge(
            other.stateToMerge(), isPinned: isPinned, taking: taken, keepingKeys: kept, keeping: keptAttribute,
            timeout: timeout, counter)
    }

    static let patience: Duration = .seconds(30)

    func change(
        _ name: String, to value: [UInt8]?, _ expectation: Change.Expectation = .anything,
        attributes: [Attribute]? = nil, expiry: UInt64? = nil
    ) throws -> Change {
        guard let entryName = EntryName(name) else { throw LogError(.invalid, "no name") }
        guard let value else { return Change(entryName, expectation, .remove) }
        var nonces = NonceSource()
        let sealed = try seal(SecretBytes(copyOf: value), kind: 0, nonces: &nonces)
        return Change(entryName, expectation, .set(sealed, attributes: attributes, expiry: expiry))
    }

    /// Waits for the compaction that the change makes due, as do those below.
    func set(_ name: String, _ value: [UInt8], _ expectation: Change.Expectation = .anything) throws {
        try make([change(name, to: value, expectation)])
    }

    func set(_ name: String, _ text: String, expiry: UInt64) throws {
        try make([change(name, to: Array(text.utf8), expiry: expiry)])
    }

    func set(_ name: String, _ text: String) throws {
        try set(name, Array(text.utf8))
    }

    func remove(_ name: String) throws { try make([change(name, to: nil)]) }

    /// Sets and removes several names, all or nothing.
    func make(_ wishes: [Wish]) throws { try make(wishes.map { try change($0.name, to: $0.value) }) }

    func commit(_ changes: [Change], timeout: Duration) throws(LogError) {
        try commit(ChangeList(changes), timeout: timeout)
    }

    private func make(_ changes: [Change]) throws {
        try commit(changes, timeout: SealedLog.patience)
        finishUpkeep()
    }

    func get(_ name: String) throws -> [UInt8]? {
        guard let value = try open(name) else { return nil }
        return value.unsafeArray()
    }

    func text(_ name: String) throws -> String? {
        try get(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// All present entries whose names begin with a prefix.
    func entries(prefix: [UInt8] = []) throws(LogError) -> [Entry] {
        var listing = try listing(prefix: prefix)
        var entries: [Entry] = []
        while let entry = try listing.next() { entries.append(entry) }
        return entries
    }

    /// All names and values.
    func state() throws -> [String: [UInt8]] {
        var state: [String: [UInt8]] = [:]
        for entry in try entries() { state[entry.name.text] = try get(entry.name.text) }
        return state
    }

    @discardableResult
    func verify() throws -> VerificationReport {
        try verify(timeout: SealedLog.patience)
    }

    @discardableResult
    func compact() throws -> CompactionReport {
        try compact(timeout: SealedLog.patience)
    }
}

// MARK: Beside the usual way

extension LogView {
    /// Those of the next record.
    func circumstances(at now: UInt64) -> Circumstances {
        Circumstances(now: now, sequence: head.sequence + 1, history: header.history)
    }
}

extension SealedLog {
    /// Plans a record at another time than now.
    func plan(_ changes: [Change], at now: UInt64) throws -> RecordPlan {
        try view.withLock { view in
            var batch = TransactionBatch(totals: try view.currentTotals())
            _ = try batch.add(ChangeList(changes), view.circumstances(at: now)) { () throws(LogError) in
                try view.manifest().created
            } find: { (name) throws(LogError) in
                try view.find(name)
            }
            return try view.shortPlan(batch) ?? view.treePlan(batch, into: nil)
        }
    }

    /// Commits at another time than now.
    func commit(_ changes: [Change], at now: UInt64) throws {
        let plan = try plan(changes, at: now)
        try writer.withLock { _ in try append(plan) }
    }

    /// Writes an entry as it is, as anybody can who has the data key.
    func write(_ entry: Entry, _ boxes: [[UInt8]?] = []) throws {
        let plan = try view.withLock { view in
            var batch = TransactionBatch(totals: try view.currentTotals())
            batch.move(entry, boxes, replacing: try view.find(entry.name))
            return try #require(try view.shortPlan(batch))
        }
        try writer.withLock { _ in try append(plan) }
    }

    /// Writes a value under a nonce that somebody with the data key has chosen.
    func plant(_ name: String, _ value: String, under nonce: Nonce, earlier: [EarlierVersion] = []) throws {
        let now = Clock.milliseconds
        let sealed = try SealedValue(SecretBytes(copyOf: Array(value.utf8)), kind: 1, nonce: nonce, under: keys)
        let content = Entry.Content(created: now, current: sealed.version, attributes: [])
        var entry = Entry(name: try .sample(name), modified: now, content: content, earlier: earlier)
        entry.sequence = view.withLock { $0.head.sequence } + 1
        try write(entry, [Array(sealed.box)] + earlier.map { _ in nil })
    }

    /// Writes what only somebody would who was shut out: other changes of the members, or a position that this vault
    /// claims to have merged.
    func forge(members: [MemberRecord]? = nil, claiming position: LogPosition? = nil) throws {
        _ = try changeHeader(timeout: SealedLog.patience, nil) { (header, table) in
            HeaderChange(
                old: header, table, members: members, keys: nil, membersKnownToKey: members.map { _ in [] },
                merged: position.map { KnownPositions([$0], first: $0.sequence) }, formerMemoryKeys: [],
                isAccessLogged: false)
        }
    }

    func nonce(of name: String) throws -> Nonce {
        try #require(try history(.sample(name))?.content).current.nonce
    }

    /// Writes a record as a writer does that is killed before it flushes.
    func writeWithoutFlush(_ name: String, _ value: [UInt8]) throws {
        let plan = try plan([change(name, to: value)], at: Clock.milliseconds)
        try view.withLock { $0.store }.write(plan.bytes, at: plan.record.offset)
    }
}

extension RecordStore {
    var asFile: FileRecordStore {
        get throws { try #require(self as? FileRecordStore) }
    }
}
