import LinuxSystem
import SealedFormat
import Sealing

/// This machine's copy of a vault in a database, with the same sealed bytes.
///
/// The copy serves only to save time. The log authenticates its bytes, and falls back to the database if that fails.
/// But the log's end in the copy's state is trusted, so files of other users are ignored. One file contains the sealed
/// bytes at the same offsets as in the database; once complete, it is a vault file. A second file contains the state.
final class Mirror: Sendable {
    struct State {
        /// The vault's head (its generation and the end of its log), as the database last returned it.
        var head: StoreHead
        /// The time at which the database returned the head, in milliseconds since 1970.
        var contact: UInt64
        /// The ranges of the vault's bytes that the copy contains.
        var ranges = RangeSet<UInt64>()
        /// The open file with the copy's bytes; nil until it is opened. It remains usable even if it is removed.
        fileprivate var file: BytesFile?

        func has(_ range: Range<UInt64>) -> Bool {
            range.upperBound <= head.size && ranges.isSuperset(of: RangeSet(range))
        }
    }

    fileprivate final class BytesFile: Sendable {
        private let file: TrustworthyFile
        var descriptor: FileDescriptor { _read { yield file.descriptor } }

        init(_ descriptor: consuming FileDescriptor, in files: any FileSystem) throws(Distrust) {
            file = try TrustworthyFile(descriptor, in: files)
        }
    }

    /// The precision of ``State/contact``, in milliseconds.
    private static let contactPrecision: UInt64 = 1_000
    private static let largestState: UInt64 = 16 << 20

    let folder: String
    let name: String
    let files: any FileSystem
    /// The state of the copy, read from its file on first use. The login to the server may still be in progress then.
    private let state = Mutex(Reading())

    private struct Reading {
        var isDone = false
        var found: State?
        /// If the copy ends at this log position, it can be replaced without losing changes: either this process's log
        /// includes them, or the copy has been saved to a separate file up to this position.
        var included: LogPosition?
    }

    init(of location: String, in folder: String, _ files: any FileSystem) {
        self.folder = folder
        self.files = files
        name = Mirror.name(of: location)
    }

    private func withState<Result>(_ body: (inout Reading) -> Result) -> Result {
        state.withLock { state in
            if !state.isDone {
                state.isDone = true
                state.found = read()
                // The log is opened from this state, so it includes the copy's changes up to the copy's last position.
                state.included = state.included ?? state.found?.head.position
            }
            return body(&state)
        }
    }

    /// Makes the next access reread the copy's files, because another process may have changed them.
    func reread() { state.withLock { $0.isDone = false } }

    private func read() -> State? {
        guard var found = readState() else { return nil }
        found.openFile(of: self)
        return found
    }

    /// Reads the copy's state file. Does not open the file that contains the copy's bytes.
    private func readState() -> State? {
        // The state cannot be parsed while another process is writing it, so a failed read is repeated.
        for _ in 0..<3 {
            guard let saved = (try? WholeFile(statePath, in: files).readTrustworthy(upTo: Mirror.largestState)) ?? nil
            else { return nil }
            if let found = State(parsing: saved.bytes) { return found }
        }
        return nil
    }

    /// Returns the common prefix of the names of all local files for the vault at `location`.
    static func name(of location: String) -> String {
        Hexadecimal.string(of: Array(RunningHash.hash(of: location).prefix(16)))
    }

    private var statePath: String { "\(folder)/\(name).state" }

    /// Returns the path of the file with a generation's bytes. A compaction creates a generation, and thus a new file.
    private func bytesPath(_ generation: UInt64) -> String { "\(folder)/\(name)-\(generation).vault" }

    var head: StoreHead? { withState { $0.found?.head } }
    /// The time at which the database returned ``head``, in milliseconds since 1970.
    var contact: UInt64? { withState { $0.found?.contact } }
    /// The newest head that any process on this machine has saved in the copy; nil if there is no copy.
    var savedHead: StoreHead? {
        // This process opens the log from its state, which must not be newer than this head, so it is loaded first.
        withState { _ in }
        return readState()?.head
    }

    var path: String? { withState { $0.found.map { bytesPath($0.head.generation) } } }

    /// The path of the file with the copy's bytes; nil unless the file contains all bytes of the vault.
    var completePath: String? {
        withState { state in
            guard let found = state.found, found.has(0..<found.head.size) else { return nil }
            return bytesPath(found.head.generation)
        }
    }

    /// Returns the ranges that the copy contains; nil if the copy belongs to another generation.
    func ranges(of generation: UInt64) -> [Range<UInt64>]? {
        withState { state in state.found.flatMap { $0.head.generation == generation ? Array($0.ranges.ranges) : nil } }
    }

    /// Returns the ranges that the copy lacks; none if its head and `head` describe different states of the vault.
    func gaps(of head: StoreHead) -> [Range<UInt64>] {
        withState { state in
            guard let found = state.found, found.head.isAlike(head) else { return [] }
            return found.ranges.gaps(in: 0..<head.size, upTo: head.size)
        }
    }

    var missingCount: UInt64 { head.map { gaps(of: $0).reduce(0) { $0 + UInt64($1.count) } } ?? 0 }

    // MARK: Reading

    /// Copies a range of the local copy into `buffer`. Returns false if the local copy lacks part of the range.
    func copy(_ range: Range<UInt64>, of generation: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        let file = withState { state in
            state.found.flatMap { $0.head.generation == generation && $0.has(range) ? $0.file : nil }
        }
        guard let file else { return false }
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count])
        return (try? files.read(file.descriptor, into: target, at: range.lowerBound)) == range.count
    }

    // MARK: Writing

    /// Records that the copy can be replaced without loss if it ends at `position`; see ``Reading/included``.
    func setIncluded(_ position: LogPosition) { withState { $0.included = position } }

    /// Saves in the local copy the head that the database returned and the bytes that the log has accepted. Returns
    /// whether both were saved. If not, the only consequence is that later reads take longer.
    ///
    /// - Parameter isNew: whether to drop the former contents of the copy.
    @discardableResult
    func keep(_ head: StoreHead, _ pieces: [StoreBytes], isNew: Bool) -> Bool {
        let now = Clock.milliseconds
        // If only the time of the last server contact differs, updates the copy at most once per ``contactPrecision``.
        if !isNew, pieces.allSatisfy(\.bytes.isEmpty), let kept = withState({ $0.found }), kept.head == head,
            (kept.contact..<kept.contact + Mirror.contactPrecision).contains(now)
        {
            return true
        }
        let kept = change(creating: isNew) { saved, included in
            var new = State(head: head, contact: now)
            if isNew {
                // Replacing the copy must not lose changes that another process has saved since the caller's check.
                let isIncluded = saved.map { [included, head.position].contains($0.head.position) } ?? true
                return isIncluded ? (new, pieces) : nil
            }
            guard let saved, saved.continues(included, of: head.generation) else { return nil }
            let end = saved.head.position
            guard head.position.mayFollow(end) || end.mayFollow(head.position) else { return nil }
            // Heads may be saved in a different order than the database returned them, so the newer one is kept.
            if end.sequence > head.position.sequence { new.head = saved.head }
            new.ranges = saved.ranges
            // Unless two of these three log positions are equal, the copy's history may differ from the server's.
            let isCommon = [head.position, included].contains(end) || included == head.position
            return (new, pieces.filter { isCommon || $0.offset >= saved.head.size })
        }
        guard let kept else { return false }
        if kept.head.position == head.position { setIncluded(head.position) }
        return true
    }

    /// Saves bytes returned with `head`, which the log need not have accepted. Returns whether the copy has them all.
    func keep(_ bytes: StoreBytes, of head: StoreHead) -> Bool {
        let kept = change { saved, included in
            // If the server has been restored from a backup, its bytes must not replace those of the copy. Bytes before
            // the copy's end are therefore saved only after the log has accepted the server's history.
            guard let saved, saved.continues(included, of: head.generation),
                bytes.offset >= saved.head.size || [saved.head.position, included].contains(head.position)
            else { return nil }
            return (saved, [bytes])
        }
        return kept?.ranges.isSuperset(of: RangeSet(bytes.range)) ?? false
    }

    /// Replaces bytes of the copy with authenticated bytes of the vault's current state.
    func replace(_ bytes: StoreBytes, of head: StoreHead) {
        _ = change { saved, included in
            guard let saved, saved.continues(included, of: head.generation),
                [saved.head.position, included].contains(head.position)
            else { return nil }
            var new = saved
            new.ranges.remove(contentsOf: bytes.range)
            return (new, [bytes])
        }
    }

    /// Changes the copy under its file lock. Nothing is written before `decide` has determined what may change.
    ///
    /// If the server has been restored from a backup, later changes may exist only in the copy, perhaps saved by
    /// another process. So bytes before the copy's former end are overwritten only in ranges that the new state lacks.
    ///
    /// The state file is overwritten, because replacing it takes ten times as long. Nothing is flushed, so after a
    /// power loss the copy may be outdated, or some of its bytes may not authenticate.
    ///
    /// - Parameter decide: returns the new state and the bytes to add, or nil to change nothing. Of the ranges saved so
    ///   far, the new state contains only those that remain valid.
    /// - Returns: the new state; nil if nothing was changed.
    private func change(
        creating isCreating: Bool = false,
        _ decide: (_ saved: State?, _ included: LogPosition?) -> (State, [StoreBytes])?
    ) -> State? {
        if isCreating { try? files.makeFolders(folder) }
        // A timeout of one second suffices, because other processes hold this lock much more briefly.
        guard let file = opened(statePath, isCreating ? .readWriteOrCreateNoFollow : .readWriteNoFollow),
            (try? files.lock(file.descriptor, .exclusive, until: Deadline(after: .seconds(1)))) != nil
        else { return nil }
        defer { files.unlock(file.descriptor) }
        let saved = content(of: file)
        guard let (decided, pieces) = decide(saved, withState { $0.included }) else { return nil }
        var new = decided
        new.openFile(of: self)
        if new.file == nil { new.file = open(new.head.generation, .readWriteOrCreateNoFollow) }
        if let file = new.file {
            for piece in pieces {
                for gap in new.ranges.gaps(in: piece.range, upTo: saved?.head.size ?? 0)
                where piece.withBytes(of: gap, { write($0, at: gap.lowerBound, to: file) }) {
                    new.ranges.insert(contentsOf: gap)
                }
            }
        }
        guard new.encoded.withRawBytes({ write($0, at: 0, to: file) }) else { return nil }
        withState { $0.found = new }
        if let saved, saved.head.generation != new.head.generation {
            try? files.remove(bytesPath(saved.head.generation))
        }
        return new
    }

    fileprivate func open(_ generation: UInt64, _ access: FileAccess) -> BytesFile? {
        opened(bytesPath(generation), access)
    }

    fileprivate func size(of file: BytesFile) -> UInt64 { (try? files.status(of: file.descriptor).size) ?? 0 }

    private func opened(_ path: String, _ access: FileAccess) -> BytesFile? {
        do { return try BytesFile(files.open(path, access), in: files) } catch { return nil }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, to file: BytesFile) -> Bool {
        (try? files.write(file.descriptor, bytes, at: offset)) != nil
    }

    private func content(of file: BytesFile) -> State? {
        guard let size = try? files.status(of: file.descriptor).size, size <= Mirror.largestState else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let count = bytes.withMutableRawBytes { bytes in try? files.read(file.descriptor, into: bytes, at: 0) }
        return count == bytes.count ? State(parsing: bytes) : nil
    }
}

extension Mirror.State {
    /// Opens the file with the copy's bytes, for writing if possible. Drops the ranges that the file no longer
    /// contains, for example because another process has truncated it.
    fileprivate mutating func openFile(of mirror: Mirror) {
        file = mirror.open(head.generation, .readWriteNoFollow) ?? mirror.open(head.generation, .readNoFollow)
        let size = file.map(mirror.size) ?? 0
        ranges.remove(contentsOf: size..<UInt64.max)
    }
}
