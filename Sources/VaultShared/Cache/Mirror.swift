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
        var ranges = ByteRanges()
        /// The file of the bytes, once it was opened. It stays the same if another process that knows of a later
        /// generation removes it.
        fileprivate var file: BytesFile?

        func has(_ range: Range<UInt64>) -> Bool {
            range.upperBound <= head.size && ranges.contains(range)
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

    private let folder: String
    private let name: String
    private let files: any FileSystem
    /// It is read when it is needed first: meanwhile, a connection may have begun.
    private let state = Mutex(Reading())

    private struct Reading {
        var isDone = false
        var found: State?
        /// Where the log ends in the file of the state, as this process has read or written it last.
        var saved: LogPosition?
        /// The same as this process has looked at it since, to let another store take the copy's place; or its own end.
        var looked: LogPosition??
    }

    /// - Parameter location: of the database's vault.
    init(of location: String, in folder: String, _ files: any FileSystem) {
        (self.folder, self.files) = (folder, files)
        name = Mirror.name(of: location)
    }

    private func withState<Result>(_ body: (inout State?) -> Result) -> Result {
        state.withLock { state in
            if !state.isDone {
                let found = read()
                state = Reading(isDone: true, found: found, saved: found?.head.position, looked: state.looked)
            }
            return body(&state.found)
        }
    }

    /// Reads the files again when they are needed: another process may have written them.
    func reread() { state.withLock { $0 = Reading() } }

    private func read() -> State? {
        guard var found = readState() else { return nil }
        found.file = open(found.head.generation, .readWriteNoFollow) ?? open(found.head.generation, .readNoFollow)
        if found.file == nil { found.ranges = ByteRanges() }
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
    private func bytesPath(_ generation: UInt64) -> String {
        let number = Hexadecimal.string(of: withUnsafeBytes(of: generation.bigEndian) { Array($0) })
        return "\(folder)/\(name)-\(number).vault"
    }

    /// What the database said last; nil if there is no copy.
    var head: StoreHead? { withState { $0?.head } }
    /// When that was, in milliseconds since 1970.
    var contact: UInt64? { withState { $0?.contact } }
    /// What the database said last to any process of this machine; nil if there is no copy.
    var savedHead: StoreHead? {
        let head = readState()?.head
        state.withLock { $0.looked = .some(head?.position) }
        return head
    }

    /// The path of the copy; nil if there is none.
    var path: String? { withState { $0.map { bytesPath($0.head.generation) } } }

    /// The path of the copy, if it is a whole vault file.
    var completePath: String? {
        withState { state in
            guard let state, state.has(0..<state.head.size) else { return nil }
            return bytesPath(state.head.generation)
        }
    }

    /// Returns which bytes of a generation are there; nil if those of another are.
    func ranges(of generation: UInt64) -> [Range<UInt64>]? {
        withState { state in state.flatMap { $0.head.generation == generation ? $0.ranges.sorted : nil } }
    }

    // MARK: Reading

    /// Returns whether it has all of a range; then copies it.
    func copy(_ range: Range<UInt64>, of generation: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        let file = withState { state in
            state.flatMap { $0.head.generation == generation && $0.has(range) ? $0.file : nil }
        }
        guard let file else { return false }
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count])
        return (try? files.read(file.descriptor, into: target, at: range.lowerBound)) == range.count
    }

    // MARK: Writing

    /// Keeps what the database says of the vault, and bytes that it has sent. A failure only costs time later.
    ///
    /// - Parameters:
    ///   - writtenRange: what ``write(_:at:of:)`` has written of it.
    ///   - isNew: whether nothing that was kept before counts. If it is false, and another generation is kept, nothing
    ///     changes: another thread has gone on to a later one.
    func keep(_ head: StoreHead, _ pieces: [StoreBytes], written writtenRange: Range<UInt64>? = nil, isNew: Bool) {
        let pieces = pieces.filter { !$0.bytes.isEmpty }
        let file = isNew || !pieces.isEmpty ? fileToWrite(head.generation, isNew: isNew) : nil
        let written = pieces.filter { piece in
            piece.bytes.withUnsafeBytes { write($0, at: piece.offset, to: file) }
        }
        let (former, new) = withState { state -> (State?, State?) in
            let former = state
            guard isNew || former?.head.generation == head.generation else { return (nil, nil) }
            // Of commands that follow each other at once, not each need write when it was.
            if !isNew, written.isEmpty, writtenRange == nil, let former, former.head == head,
                (former.contact..<former.contact + Mirror.contactPrecision).contains(Clock.milliseconds)
            {
                return (nil, nil)
            }
            var new = State(head: head, contact: Clock.milliseconds, file: file)
            if !isNew, let former {
                (new.ranges, new.file) = (former.ranges, file ?? former.file)
                // Threads may bring what they have heard in another order.
                if former.head.position.sequence > head.position.sequence { new.head = former.head }
            }
            for range in written.map(\.range) + [writtenRange].compactMap(\.self) { new.ranges.insert(range) }
            state = new
            return (former, new)
        }
        if let new { save(new, isNew: isNew) }
        if let former, former.head.generation != head.generation {
            try? files.remove(bytesPath(former.head.generation))
        }
    }

    /// Keeps bytes that ``write(_:at:of:)`` has written of the vault as it was.
    func keep(_ range: Range<UInt64>, of generation: UInt64) {
        let changed = withState { state -> State? in
            guard state?.head.generation == generation, !range.isEmpty else { return nil }
            state?.ranges.insert(range)
            return state
        }
        if let changed { save(changed, isNew: false) }
    }

    /// Writes bytes, which count once they are kept. Returns whether it could.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, of generation: UInt64) -> Bool {
        write(bytes, at: offset, to: fileToWrite(generation))
    }

    /// nil if it cannot be written, or is of another generation than the one that is kept.
    private func fileToWrite(_ generation: UInt64, isNew: Bool = false) -> BytesFile? {
        if !isNew {
            guard let kept = withState({ $0 }), kept.head.generation == generation else { return nil }
            if let file = kept.file { return file }
        }
        try? files.makeFolders(folder)
        let file = open(generation, .readWriteOrCreateNoFollow)
        withState { if $0?.head.generation == generation { $0?.file = file } }
        return file
    }

    private func open(_ generation: UInt64, _ access: FileAccess) -> BytesFile? {
        opened(bytesPath(generation), access)
    }

    private func opened(_ path: String, _ access: FileAccess) -> BytesFile? {
        do { return try BytesFile(files.open(path, access), in: files) } catch { return nil }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, to file: BytesFile?) -> Bool {
        guard let file else { return false }
        return (try? files.write(file.descriptor, bytes, at: offset)) != nil
    }

    /// Writes it in place: another file in its place costs ten times as much. Without a flush: what a power loss leaves
    /// does not authenticate, or is older.
    ///
    /// Another process may have kept later changes, which may be nowhere else once a server is put back: they stay.
    ///
    /// - Parameter isNew: whether nothing that was kept before counts.
    private func save(_ new: State, isNew: Bool) {
        // Another process that writes the file needs much less.
        guard let file = opened(statePath, .readWriteOrCreateNoFollow),
            (try? files.lock(file.descriptor, .exclusive, until: Deadline(after: .seconds(1)))) != nil
        else { return }
        defer { files.unlock(file.descriptor) }
        var saved = new
        let found = content(of: file)
        // Another process may have gone on after this one has looked whether the copy may be replaced.
        if isNew, let found, found.head.generation == new.head.generation, found.head.position != new.head.position,
            state.withLock({ $0.looked ?? $0.saved }) != found.head.position
        {
            return
        }
        if !isNew, let found {
            // Another process may have another history, or has gone on to a later generation. This one goes on to read
            // what it knows.
            guard found.head.generation == new.head.generation,
                state.withLock({ $0.saved.map { found.head.position.mayFollow($0) } ?? true }),
                new.head.position.mayFollow(found.head.position) || found.head.position.mayFollow(new.head.position)
            else { return }
            if found.head.position.sequence > new.head.position.sequence { saved.head = found.head }
            for range in found.ranges.sorted { saved.ranges.insert(range) }
        }
        saved.encoded.withRawBytes { bytes in _ = write(bytes, at: 0, to: file) }
        state.withLock { ($0.saved, $0.looked) = (saved.head.position, .some(new.head.position)) }
    }

    private func content(of file: BytesFile) -> State? {
        guard let size = try? files.status(of: file.descriptor).size, size <= Mirror.largestState else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let count = bytes.withMutableRawBytes { bytes in try? files.read(file.descriptor, into: bytes, at: 0) }
        return count == bytes.count ? State(parsing: bytes) : nil
    }
}

extension LogPosition {
    /// Whether nothing shows that another history ends here than the one that has ended there.
    fileprivate func mayFollow(_ other: LogPosition) -> Bool { self == other || sequence > other.sequence }
}
