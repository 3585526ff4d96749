import LinuxSystem
import Sealing

package struct VerificationReport: Hashable, Sendable, Encodable {
    /// The number of names that are present.
    package internal(set) var entries = 0
    /// The number of records since the last compaction.
    package internal(set) var records = 0
    /// The number of bytes that were authenticated.
    package internal(set) var bytes = 0
    /// The names whose current state was set after the first member was added, but is not signed.
    package internal(set) var unsigned: [String] = []
    /// The time when the last member was removed, in milliseconds since 1970; nil if a member exists or none ever did.
    package internal(set) var unsignedSince: UInt64?
    /// The names with a state that its author signed after seeing a change that this vault's history does not include.
    package internal(set) var foreign: [String] = []
    /// The names with a state whose author was not a member when the state was signed.
    package internal(set) var ofNonMembers: [String] = []
    /// The names of values that differ but share a nonce. This counts as damage; see ``SharedNonces``.
    package internal(set) var sharingNonces: [String] = []
}

extension SealedLog {
    /// Verifies the vault. Throws `damaged` with the offset of the first damage, `busy` or `unavailable`, or any error
    /// from ``members()``.
    package func verify(timeout: Duration, _ counter: UpkeepProgress? = nil) throws(LogError) -> VerificationReport {
        let known = try read { (view) throws(LogError) in view }
        // The lock is held only to find the log's end. Holding it during the whole verification would block writers.
        let lock = try StoreLock.toRead(until: Deadline(after: timeout), known.store.reopened)
        var view = try LogView.whole(lock.store, known.keys)
        // If this machine keeps a copy of the store, the bytes that are verified are saved to that copy.
        try view.replaceCopy()
        lock.release()
        do throws(LogError) {
            let report = try Verifier(of: view, counter).run()
            view.store.machineCopy?.endDoubt()
            // Check last that the member list lacks no removal seen on this machine, so that damage is reported first.
            _ = try members()
            memory?.forgetUpkeep()
            return report
        } catch {
            if error.code == .damaged { rememberFailure(error) }
            throw error
        }
    }
}

/// The verification of every byte of a vault: the checkpoint with all its pages and values, and every record with its
/// payload, its values and its tree. It relies on neither hints nor the rollback memory.
struct Verifier: ~Copyable {
    /// The whole log, up to its end at the start of the verification.
    private let whole: LogView
    /// The log up to the last verified record.
    private var view: LogView
    private var report = VerificationReport()
    private var values: ValueOpener
    private let members: MemberList
    private let counter: UpkeepProgress?

    /// - Parameter startsCounter: whether to start the progress counter. If false, the caller has already started it.
    init(of whole: LogView, _ counter: UpkeepProgress?, startsCounter: Bool = true) throws(LogError) {
        self.whole = whole
        self.counter = counter
        if startsCounter { counter?.begin(whole.end) }
        view = LogView(
            store: whole.store, keys: whole.keys, header: whole.header, authenticator: whole.origin.authenticator)
        let members = try whole.members()
        let values = try ValueOpener(of: whole.store, keys: whole.keys)
        self.members = members
        self.values = values
    }

    consuming func run() throws(LogError) -> VerificationReport {
        try verifyCheckpoint()
        try whole.forEachRecord(counter) { (record) throws(LogError) in
            try verify(record)
            view.apply(record)
            report.records += 1
            report.bytes += Int(clamping: record.frame.recordLength)
        }
        try checkNames()
        return report
    }

    private mutating func checkNames() throws(LogError) {
        let known = members.isEmpty ? nil : try KnownHistory(of: view).positions
        let positions = Set(known?.positions ?? [])
        let now = Clock.milliseconds
        var nonces = NonceTable()
        var merge = try view.entries()
        while let entry = try merge.next() {
            nonces.add(entry)
            if entry.isPresent(at: now) { report.entries += 1 }
            guard let known, let founding = members.founding else { continue }
            if entry.authorship == nil, entry.sequence > founding { report.unsigned.append(entry.name.text) }
            let isForeign = entry.signedStates.compactMap(\.authorship?.seen).contains {
                $0.sequence >= known.first && !positions.contains($0)
            }
            if isForeign { report.foreign.append(entry.name.text) }
            if !entry.signedStates.compactMap(\.authorship).allSatisfy(members.wasMember) {
                report.ofNonMembers.append(entry.name.text)
            }
        }
        report.unsignedSince = members.endedAt
        report.sharingNonces = try view.namesSharingNonces(of: nonces)
    }

    private mutating func verifyCheckpoint() throws(LogError) {
        try view.checkHeaderCopy()
        let header = view.header
        _ = try view.manifest()
        var boxes = [header.manifest.box]
        var cursor = try TreeCursor(root: header.root, loader: view.loader)
        while let entry = try cursor.next() {
            try verify(entry) { _ in Limits.checkpointStart..<header.checkpointEnd }
            for version in entry.versions {
                counter?.advance(by: UInt64(version.boxLength))
                boxes.append(version.box)
            }
        }
        boxes += cursor.pages
        // Every byte of a checkpoint belongs to a page or a box, so there must be no gap between them.
        boxes.sort { $0.lowerBound < $1.lowerBound }
        var covered = Limits.checkpointStart
        for box in boxes {
            guard box.lowerBound == covered else { throw LogError.damaged("the checkpoint's parts", at: covered) }
            covered = box.upperBound
        }
        guard covered == header.checkpointEnd else { throw LogError.damaged("the checkpoint's parts", at: covered) }
        report.bytes += Int(clamping: covered)
    }

    private mutating func verify(_ record: Record) throws(LogError) {
        for entry in record.index.transactions.joined() {
            try verify(entry) { _ in Limits.checkpointStart..<record.end }
        }
        guard let tree = record.index.tree else { return }
        guard tree.header == view.origin.authenticator else {
            throw LogError.damaged("a minor checkpoint that belongs to another checkpoint", at: record.offset)
        }
        // The tree must contain all entries of earlier records, and the values that it adds must pass verification.
        var replay = EntryMerge(
            recent: [view.recent.cursor()], trees: [try TreeCursor(root: view.minor?.root, loader: view.loader)])
        var expected = try replay.next()
        var cursor = try TreeCursor(root: tree.root, loader: view.loader)
        var count: UInt64 = 0
        while let entry = try cursor.next() {
            count += 1
            let old = expected
            if let old, old.name < entry.name { throw LogError.damaged("a tree lacks an entry", at: record.offset) }
            if old?.name == entry.name { expected = try replay.next() }
            guard old != entry else { continue }
            // A value that is new in this record must be in this record's payload, like the tree itself.
            let before = try view.find(entry.name)?.versions ?? []
            try verify(entry) { version in
                let isKept = before.contains { $0.nonce == version.nonce }
                return isKept ? Limits.checkpointStart..<record.end : record.payload
            }
        }
        guard expected == nil, count == tree.entries else {
            throw LogError.damaged("a tree lacks an entry", at: record.offset)
        }
        guard cursor.pages.allSatisfy({ record.payload.contains($0) }) else {
            throw LogError.damaged("a tree outside its record", at: record.offset)
        }
    }

    /// Opens an entry's values, checks that each is inside its range, and verifies the signatures.
    private mutating func verify(_ entry: Entry, _ range: (StoredVersion) -> Range<UInt64>) throws(LogError) {
        for state in entry.signedStates {
            var valueHash: [UInt8] = []
            if let version = state.content?.current {
                guard range(version).contains(version.box) else {
                    throw LogError.damaged("a value outside its range", at: version.offset)
                }
                let isSigned = state.authorship != nil
                try values.open(version) { (value) throws(SealingError) in
                    if isSigned { valueHash = try version.hash(ofValue: value) }
                }
            }
            guard let authorship = state.authorship else { continue }
            _ = try members.author(of: authorship, for: state.statement(valueHash: valueHash, in: view.header.vaultID))
        }
    }
}
