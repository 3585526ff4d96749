import LinuxSystem
import SealedLog
import Sealing

/// A copy of a vault's bytes on this machine, as sealed as in the database.
///
/// It only saves time: what does not authenticate is read from the database again. But where the log ends is believed,
/// so another user's files do not count. A file has the bytes, at the same offsets; another says which of them are
/// there. Once all are, the first is a vault file.
final class Mirror: Sendable {
    struct State {
        /// What the database said last.
        var head: StoreHead
        /// When that was, in milliseconds since 1970.
        var contact: UInt64
        /// The bytes that are there.
        var ranges = RangeSet<UInt64>()
        /// The file of the bytes, once it was opened. It stays the same if another process that knows of a later
        /// generation removes it.
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

    /// How exactly the time of the last contact is kept, in milliseconds.
    private static let contactPrecision: UInt64 = 1_000
    /// How many bytes of a state are read at most.
    private static let largestState: UInt64 = 16 << 20

    let folder: String
    let name: String
    let files: any FileSystem
    /// It is read when it is needed first: meanwhile, a connection may have begun.
    private let state = Mutex(Reading())

    private struct Reading {
        var isDone = false
        var found: State?
        /// Where the log ended in the newest state of which this process knows that nothing is lost with it: its own
        /// log includes that, or it is a file as well.
        var included: LogPosition?
    }

    /// - Parameter location: of the database's vault.
    init(of location: String, in folder: String, _ files: any FileSystem) {
        (self.folder, self.files) = (folder, files)
        name = Mirror.name(of: location)
    }

    private func withState<Result>(_ body: (inout Reading) -> Result) -> Result {
        state.withLock { state in
            if !state.isDone {
                (state.isDone, state.found) = (true, read())
                // The log is opened from it.
                state.included = state.included ?? state.found?.head.position
            }
            return body(&state)
        }
    }

    /// Reads the files again when they are needed: another process may have written them.
    func reread() { state.withLock { $0.isDone = false } }

    private func read() -> State? {
        guard var found = readState() else { return nil }
        found.openFile(of: self)
        return found
    }

    /// Reads the state alone, without the file of the bytes.
    private func readState() -> State? {
        // Another process may just be writing it.
        for _ in 0..<3 {
            guard let saved = (try? WholeFile(statePath, in: files).readTrustworthy(upTo: Mirror.largestState)) ?? nil
            else {
                return nil
            }
            if let found = State(parsing: saved.bytes) { return found }
        }
        return nil
    }

    /// What files of a database's vault are named after.
    static func name(of location: String) -> String {
        Hexadecimal.string(of: Array(RunningHash.hash(of: location).prefix(16)))
    }

    private var statePath: String { "\(folder)/\(name).state" }

    /// The file of the bytes. A compaction writes others.
    private func bytesPath(_ generation: UInt64) -> String { "\(folder)/\(name)-\(generation).vault" }

    /// What the database said last; nil if there is no copy.
    var head: StoreHead? { withState { $0.found?.head } }
    /// When that was, in milliseconds since 1970.
    var contact: UInt64? { withState { $0.found?.contact } }
    /// What the database said last to any process of this machine; nil if there is no copy.
    var savedHead: StoreHead? {
        // What comes later is not what the log was opened from.
        withState { _ in }
        return readState()?.head
    }

    /// The path of the copy; nil if there is none.
    var path: String? { withState { $0.found.map { bytesPath($0.head.generation) } } }

    /// The path of the copy, if it is a whole vault file.
    var completePath: String? {
        withState { state in
            guard let found = state.found, found.has(0..<found.head.size) else { return nil }
            return bytesPath(found.head.generation)
        }
    }

    /// Returns which bytes of a generation are there; nil if those of another are.
    func ranges(of generation: UInt64) -> [Range<UInt64>]? {
        withState { state in state.found.flatMap { $0.head.generation == generation ? Array($0.ranges.ranges) : nil } }
    }

    /// Returns which bytes of the vault are missing; none if what is kept does not end so.
    func gaps(of head: StoreHead) -> [Range<UInt64>] {
        withState { state in
            guard let found = state.found, found.head.isAlike(head) else { return [] }
            return found.ranges.gaps(in: 0..<head.size, upTo: head.size)
        }
    }

    /// How many bytes of the vault are missing.
    var missingCount: UInt64 { head.map { gaps(of: $0).reduce(0) { $0 + UInt64($1.count) } } ?? 0 }

    // MARK: Reading

    /// Returns whether it has all of a range; then copies it.
    func copy(_ range: Range<UInt64>, of generation: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        let file = withState { state in
            state.found.flatMap { $0.head.generation == generation && $0.has(range) ? $0.file : nil }
        }
        guard let file else { return false }
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count])
        return (try? files.read(file.descriptor, into: target, at: range.lowerBound)) == range.count
    }

    // MARK: Writing

    /// Learns that nothing is lost with the copy as it was when it ended with a position: this process's log includes
    /// that, or it is a file as well.
    func learnIncluded(_ position: LogPosition) { withState { $0.included = position } }

    /// Keeps what the database says of the vault, and bytes that the log has followed. Returns whether it did; a
    /// failure only costs time later.
    ///
    /// - Parameter isNew: whether nothing that was kept before counts.
    @discardableResult
    func keep(_ head: StoreHead, _ pieces: [StoreBytes], isNew: Bool) -> Bool {
        let now = Clock.milliseconds
        // Of commands that follow each other at once, not each need write when it was.
        if !isNew, pieces.allSatisfy(\.bytes.isEmpty), let kept = withState({ $0.found }), kept.head == head,
            (kept.contact..<kept.contact + Mirror.contactPrecision).contains(now)
        {
            return true
        }
        let kept = change(creating: isNew) { saved, included in
            var new = State(head: head, contact: now)
            if isNew {
                // Another process may have gone on after this one has looked whether the copy may be replaced.
                let isIncluded = saved.map { [included, head.position].contains($0.head.position) } ?? true
                return isIncluded ? (new, pieces) : nil
            }
            guard let saved, saved.continues(included, of: head.generation) else { return nil }
            let end = saved.head.position
            guard head.position.mayFollow(end) || end.mayFollow(head.position) else { return nil }
            // Threads may bring what they have heard in another order, and so may processes.
            if end.sequence > head.position.sequence { new.head = saved.head }
            new.ranges = saved.ranges
            // Otherwise there may be two histories between what this process knows of the copy and the copy's end.
            let isCommon = [head.position, included].contains(end) || included == head.position
            return (new, pieces.filter { isCommon || $0.offset >= saved.head.size })
        }
        guard let kept else { return false }
        if kept.head.position == head.position { learnIncluded(head.position) }
        return true
    }

    /// Keeps bytes of the vault as it is, or was. The log need not have followed it. Returns whether they are there.
    func keep(_ bytes: StoreBytes, of head: StoreHead) -> Bool {
        let kept = change { saved, included in
            // A server that was put back must not change the copy: bytes before its end wait until the log has followed
            // what the server has.
            guard let saved, saved.continues(included, of: head.generation),
                bytes.offset >= saved.head.size || [saved.head.position, included].contains(head.position)
            else { return nil }
            return (saved, [bytes])
        }
        return kept?.ranges.isSuperset(of: RangeSet(bytes.range)) ?? false
    }

    /// Puts bytes that have authenticated, of the vault as it is, in the place of those that are kept.
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

    /// Changes the copy under the lock of its state. Nothing is written before it is decided what may be.
    ///
    /// Another process may have kept later changes, which may be nowhere else once a server is put back. Whatever
    /// counts of the saved state is never written over, unless the new one begins without it.
    ///
    /// The state is written in place: another file in its place costs ten times as much. Nothing is flushed: what a
    /// power loss leaves does not authenticate, or is older.
    ///
    /// - Parameter decide: returns the new state, whose ranges are what still counts of the saved one, and the bytes to
    ///   add; nil if nothing may change.
    /// - Returns: the new state; nil if nothing has changed.
    private func change(
        creating isCreating: Bool = false,
        _ decide: (_ saved: State?, _ included: LogPosition?) -> (State, [StoreBytes])?
    ) -> State? {
        if isCreating { try? files.makeFolders(folder) }
        // Another process that writes the file needs much less.
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
    /// Opens the file of the bytes, to write if it can be. Bytes that it does not have do not count: it may have been
    /// removed or cut.
    fileprivate mutating func openFile(of mirror: Mirror) {
        file = mirror.open(head.generation, .readWriteNoFollow) ?? mirror.open(head.generation, .readNoFollow)
        let size = file.map(mirror.size) ?? 0
        ranges.remove(contentsOf: size..<UInt64.max)
    }
}
