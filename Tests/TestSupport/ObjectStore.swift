package import LinuxSystem
package import SealedLog
import Sealing

// An object store with conditional writes, as the record store that has least in common with a file: it has no lock,
// its objects never change, and they are durable once they are there. A record is an object `GENERATION/SEQUENCE` that
// is put if there is none. A compaction writes a generation of its own, and ends the former one by an object in the
// place of its next record: so no record is appended behind what was copied.

/// The objects of one vault, for all stores that use them.
package final class Bucket: Sendable {
    /// What stands behind the last record of a generation, or is one.
    enum Object: Sendable {
        /// All that a generation began with.
        case base(bytes: [UInt8], position: LogPosition, hint: Hint?)
        case record(StoredObject)
        /// The generation was replaced by another one.
        case moved(to: UInt64)

        fileprivate var bytes: [UInt8]? {
            switch self {
            case .base(let bytes, _, _): bytes
            case .record(let record): record.bytes
            case .moved: nil
            }
        }

        /// The log position that it ends with.
        fileprivate var position: LogPosition? {
            switch self {
            case .base(_, let position, _): position
            case .record(let record): record.position
            case .moved: nil
            }
        }

        fileprivate mutating func flip(_ index: Int, _ mask: UInt8) {
            switch self {
            case .base(var bytes, let position, let hint):
                bytes[index] ^= mask
                self = .base(bytes: bytes, position: position, hint: hint)
            case .record(var record):
                record.bytes[index] ^= mask
                self = .record(record)
            case .moved: break
            }
        }
    }

    struct StoredObject: Sendable, Equatable {
        let offset: UInt64
        var bytes: [UInt8]
        let position: LogPosition
        let hint: Hint?

        static func == (one: StoredObject, other: StoredObject) -> Bool {
            (one.offset, one.bytes, one.position) == (other.offset, other.bytes, other.position)
        }
    }

    struct Key: Hashable {
        let generation: UInt64
        let sequence: UInt64
    }

    private struct State {
        var objects: [Key: Object] = [:]
        /// Where to look first; not the truth, which is in the objects.
        var head: UInt64?
        var locks: Set<Int64> = []
    }

    private let state = Mutex(State())
    /// In a struct, since a closure that is read from a mutex is wrapped once more each time.
    private struct Hook: Sendable {
        let call: @Sendable (Request) throws(LogError) -> Void
    }

    private let hook = Mutex<Hook?>(nil)

    /// Calls a closure before each request from now on. It may throw, before or after the request is carried out.
    package func onRequest(_ call: (@Sendable (Request) throws(LogError) -> Void)?) {
        let new = call.map { Hook(call: $0) }
        hook.withLock { $0 = new }
    }

    package enum Request: Sendable, Equatable {
        case get, put, answer
    }

    package init() {}

    /// All objects at one time, for a test that puts an older state back.
    package struct Contents: Sendable {
        fileprivate var objects: [Key: Object] = [:]
        fileprivate var head: UInt64?

        package init() {}

        package var isEmpty: Bool { head == nil }
    }

    package var contents: Contents {
        get {
            state.withLock { state in
                var contents = Contents()
                contents.objects = state.objects
                contents.head = state.head
                return contents
            }
        }
        set {
            state.withLock { state in
                state.objects = newValue.objects
                state.head = newValue.head
            }
        }
    }

    /// A bit of an object.
    package struct Bit: Sendable {
        fileprivate let key: Key
        fileprivate let index: Int
        fileprivate let mask: UInt8
    }

    /// Returns a bit of the present generation; nil if there is none.
    ///
    /// - Parameters: its byte and its number in the byte, each as a part of all of them, from 0 to 1.
    package func bit(at location: Double, _ bit: Double) -> Bit? {
        let contents = contents
        var keys = contents.objects.keys.filter { $0.generation == contents.head }
        keys.sort { $0.sequence < $1.sequence }
        let sizes = keys.map { contents.objects[$0]?.bytes?.count ?? 0 }
        var index = Int(location * Double(sizes.reduce(0, +)))
        for (key, size) in zip(keys, sizes) {
            guard index >= size else { return Bit(key: key, index: index, mask: 1 << UInt8(bit * 8)) }
            index -= size
        }
        return nil
    }

    /// Changes a bit. Returns whether the present generation has it.
    package func flip(_ bit: Bit) -> Bool {
        state.withLock { state in
            state.objects[bit.key]?.flip(bit.index, bit.mask)
            return state.head == bit.key.generation
        }
    }

    package var objectCount: Int { state.withLock { $0.objects.count } }

    private func begin(_ request: Request) throws(LogError) {
        guard let hook = hook.withLock({ $0 }) else { return }
        try LockRank.separately { () throws(LogError) in try hook.call(request) }
    }

    func get(_ key: Key) throws(LogError) -> Object? {
        try begin(.get)
        return state.withLock { $0.objects[key] }
    }

    /// Returns false if there is an object already.
    func put(_ object: Object, ifAbsent key: Key) throws(LogError) -> Bool {
        try begin(.put)
        let isPut = state.withLock { state in
            guard state.objects[key] == nil else { return false }
            state.objects[key] = object
            return true
        }
        try begin(.answer)
        return isPut
    }

    func head() throws(LogError) -> UInt64? {
        try begin(.get)
        return state.withLock { $0.head }
    }

    /// Returns false if the head is another one by now.
    func putHead(_ new: UInt64, ifMatch old: UInt64?) throws(LogError) -> Bool {
        try begin(.put)
        let isPut = state.withLock { state in
            guard state.head == old else { return false }
            state.head = new
            return true
        }
        try begin(.answer)
        return isPut
    }

    func takeLock(_ number: Int64) -> Bool { state.withLock { $0.locks.insert(number).inserted } }
    func releaseLock(_ number: Int64) { state.withLock { _ = $0.locks.remove(number) } }
}

/// A vault in a bucket.
package final class BucketLocation: StoreLocation {
    package let path: String
    package let files: any FileSystem
    let bucket: Bucket

    package init(_ bucket: Bucket, path: String = "bucket:vault", in files: any FileSystem) {
        self.bucket = bucket
        self.path = path
        self.files = files
    }

    package func open(_ way: StoreOpening) throws(LogError) -> any RecordStore {
        guard var generation = try bucket.head() else { throw LogError(.missing, path) }
        while true {
            let store = try ObjectRecordStore(self, generation)
            guard let next = try store.readNewObjects() else { return store }
            // Whoever has replaced the generation may have died before the head led to the new one.
            _ = try bucket.putHead(next, ifMatch: generation)
            generation = next
        }
    }

    package func createUnpublished() throws(LogError) -> any NewStore { ObjectRecordStore(newAt: self) }
    package func createLocked() throws(LogError) -> any NewStore { ObjectRecordStore(newAt: self) }

    /// Nothing announces a change: those who follow a vault would have to ask from time to time.
    package func watch(onChange: @escaping @Sendable () -> Void) throws(LogError) -> any AnyObject & Sendable { self }

    package func namedLock(_ number: Int64) throws(LogError) -> any NamedLock { BucketLock(bucket, number) }
}

private final class BucketLock: NamedLock {
    private let bucket: Bucket
    private let number: Int64
    private let isTaken = Atomic(false)

    init(_ bucket: Bucket, _ number: Int64) {
        self.bucket = bucket
        self.number = number
    }

    deinit { if isTaken.load(ordering: .relaxed) { bucket.releaseLock(number) } }

    func tryLock() throws(LogError) -> Bool {
        let isFree = bucket.takeLock(number)
        if isFree { isTaken.store(true, ordering: .relaxed) }
        return isFree
    }

    func check() throws(LogError) {}
}

/// One generation of a vault in a bucket.
final class ObjectRecordStore: NewStore {
    private struct State {
        /// The objects that were read, the base first, each behind the one before.
        var pieces: [(offset: UInt64, bytes: [UInt8])] = []
        var end: UInt64 = 0
        var position = LogPosition(sequence: 0, authenticator: .zero)
        /// The sequence of the newest object, which for the base is 0.
        var newest: UInt64 = 0
        var hint: Hint?
        /// The newest record that an announced replacement includes. Records that are read later are not in it.
        var replacedAfter: UInt64?
        /// What was written, and belongs to no object yet.
        var written: [(offset: UInt64, bytes: [UInt8])] = []
        var isPublished: Bool
    }

    let identity: RecordStoreIdentity
    private let location: BucketLocation
    private let generation: UInt64
    private let state: Mutex<State>
    private var bucket: Bucket { location.bucket }

    init(newAt location: BucketLocation) {
        self.location = location
        generation = .random(in: 1 ... .max)
        identity = RecordStoreIdentity(withUnsafeBytes(of: generation) { Array($0) })
        state = Mutex(State(isPublished: false))
    }

    fileprivate init(_ location: BucketLocation, _ generation: UInt64) throws(LogError) {
        let found = try location.bucket.get(Bucket.Key(generation: generation, sequence: 0))
        guard case .base(let bytes, let position, let hint) = found else {
            throw LogError(.damaged, "a generation has no base")
        }
        self.location = location
        self.generation = generation
        identity = RecordStoreIdentity(withUnsafeBytes(of: generation) { Array($0) })
        state = Mutex(
            State(
                pieces: [(0, bytes)], end: UInt64(bytes.count), position: position, hint: hint, isPublished: true))
    }

    var path: String { location.path }

    /// Reads the objects that were put since. Returns the generation that has replaced this one, if one has.
    fileprivate func readNewObjects() throws(LogError) -> UInt64? {
        while true {
            let (end, sequence) = state.withLock { ($0.end, $0.position.sequence + 1) }
            switch try bucket.get(.init(generation: generation, sequence: sequence)) {
            case nil: return nil
            case .moved(let next): return next
            case .base: throw LogError(.damaged, "a base in the place of a record")
            case .record(let object):
                guard object.offset == end else { throw LogError(.damaged, "a record at another offset") }
                take(object)
            }
        }
    }

    /// Returns whether the bucket still has the newest object that was read: whoever administers it may have put an
    /// older state back.
    private func isIntact() throws(LogError) -> Bool {
        let (newest, position) = state.withLock { ($0.newest, $0.position) }
        return try bucket.get(.init(generation: generation, sequence: newest))?.position == position
    }

    private func take(_ object: Bucket.StoredObject) {
        state.withLock { state in
            // Another thread may have read it.
            guard object.position.sequence == state.position.sequence + 1 else { return }
            state.pieces.append((object.offset, object.bytes))
            state.end = object.offset + UInt64(object.bytes.count)
            state.position = object.position
            state.newest = object.position.sequence
            state.hint = object.hint ?? state.hint
        }
    }

    // MARK: Reading

    func size() throws(LogError) -> UInt64 {
        state.withLock { state in
            state.isPublished ? state.end : state.written.map { $0.offset + UInt64($0.bytes.count) }.max() ?? 0
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int {
        let size = try size()
        guard offset < size else { return 0 }
        let wanted = offset..<min(size, offset + UInt64(buffer.count))
        state.withLock { state in
            for piece in state.isPublished ? state.pieces : state.written {
                let shared = wanted.clamped(to: piece.offset..<piece.offset + UInt64(piece.bytes.count))
                guard !shared.isEmpty else { continue }
                let start = Int(shared.lowerBound - piece.offset)
                let target = UnsafeMutableRawBufferPointer(rebasing: buffer[Int(shared.lowerBound - offset)...])
                target.copyBytes(from: piece.bytes[start..<start + shared.count])
            }
            // A hint is no part of what is authenticated; it changes with the last object.
            guard state.isPublished, let hint = state.hint else { return }
            let shared = wanted.clamped(to: Hint.range)
            for index in shared { buffer[Int(index - offset)] = hint.encoded[Int(index - Hint.range.lowerBound)] }
        }
        return Int(wanted.upperBound - wanted.lowerBound)
    }

    func growth(after end: UInt64, _ head: LogPosition) throws(LogError) -> StoreGrowth {
        guard try isIntact(), try readNewObjects() == nil else { return .doubtful }
        return state.withLock { state in
            if state.position == head { return state.end == end ? .none : .doubtful }
            return state.position.sequence > head.sequence && state.end > end
                ? .some(upTo: nil, areDurable: true) : .doubtful
        }
    }

    // MARK: Location

    func isCurrent() throws(LogError) -> Bool {
        guard try bucket.head() == generation, try isIntact() else { return false }
        return try readNewObjects() == nil
    }

    func reopened() throws(LogError) -> any RecordStore { try location.open(.fresh) }
    func synchronize() throws(LogError) {}

    // MARK: Writing

    // There is no lock: an append that comes second is overtaken, and a replacement too.
    func lock(_ kind: LockKind, until deadline: Deadline) throws(LogError) -> StoreLock? {
        try isCurrent() ? StoreLock(store: self) : nil
    }

    func unlock() { state.withLock { if $0.isPublished { $0.written = [] } } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        let bytes = Array(bytes)
        state.withLock { $0.written.append((offset, bytes)) }
    }

    func append(_ record: StoredRecord) throws(LogError) {
        var bytes = record.bytes + [UInt8](repeating: 0, count: Int(record.end - record.offset) - record.bytes.count)
        let written = state.withLock { state in
            let written = state.written
            state.written = []
            return written
        }
        for piece in written where piece.offset >= record.offset && piece.offset < record.end {
            let start = Int(piece.offset - record.offset)
            bytes.replaceSubrange(start..<start + piece.bytes.count, with: piece.bytes)
        }
        guard state.withLock({ $0.position == record.previous && $0.end == record.offset }) else {
            throw LogError(.overtaken)
        }
        let object = Bucket.StoredObject(
            offset: record.offset, bytes: bytes, position: record.position, hint: record.hint)
        try put(.record(object), at: record.position.sequence) { found in
            if case .record(let other) = found { other == object } else { false }
        }
        take(object)
    }

    /// Puts an object once. After a lost answer, the object itself shows whose it is.
    private func put(
        _ object: Bucket.Object, at sequence: UInt64, isOwn: (Bucket.Object) -> Bool
    ) throws(LogError) {
        let key = Bucket.Key(generation: generation, sequence: sequence)
        var isPut: Bool?
        var failure: LogError?
        for _ in 0..<3 where isPut == nil {
            do throws(LogError) { isPut = try bucket.put(object, ifAbsent: key) } catch { failure = error }
        }
        if isPut == true { return }
        let found: Bucket.Object?
        do throws(LogError) { found = try bucket.get(key) } catch {
            throw failure == nil ? error : LogError(.outcomeUnknown, "Nothing shows whether the change was stored.")
        }
        if let found { if isOwn(found) { return } else { throw LogError(.overtaken) } }
        throw failure ?? LogError(.overtaken)
    }

    // The object that ends the generation announces the replacement.
    func announce(_ record: StoredRecord) throws(LogError) -> Bool {
        let isCurrent = state.withLock { state in
            state.replacedAfter = record.previous.sequence
            return state.position == record.previous
        }
        guard isCurrent else { throw LogError(.overtaken) }
        return false
    }

    func makeReplacement(isImpatient: Bool) throws(LogError) -> any NewStore { ObjectRecordStore(newAt: location) }

    // MARK: Publishing

    func finish(at end: UInt64, _ hint: Hint?) throws(LogError) {
        state.withLock { state in
            state.end = end
            state.hint = hint
        }
    }

    func publish(over old: Replaceable?, _ head: LogPosition) throws(LogError) {
        var bytes = [UInt8](repeating: 0, count: Int(try size()))
        let (written, hint) = state.withLock { ($0.written, $0.hint) }
        for piece in written {
            let start = Int(piece.offset)
            bytes.replaceSubrange(start..<start + piece.bytes.count, with: piece.bytes)
        }
        let base = Bucket.Object.base(bytes: bytes, position: head, hint: hint)
        try put(base, at: 0) { _ in true }
        if let old = old?.store as? ObjectRecordStore {
            try old.end(movedTo: generation)
            _ = try? bucket.putHead(generation, ifMatch: old.generation)
        } else {
            let isPut = try bucket.putHead(generation, ifMatch: nil)
            guard try isPut ? true : bucket.head() == generation else { throw LogError(.exists, path) }
        }
        state.withLock { state in
            state = State(
                pieces: [(0, bytes)], end: UInt64(bytes.count), position: head, hint: hint, isPublished: true)
        }
    }

    /// Ends this generation behind what its replacement includes, unless a record was appended there.
    private func end(movedTo next: UInt64) throws(LogError) {
        let sequence = state.withLock { ($0.replacedAfter ?? $0.position.sequence) + 1 }
        do throws(LogError) {
            try put(.moved(to: next), at: sequence) { found in
                if case .moved(next) = found { true } else { false }
            }
        } catch { throw error.code == .overtaken ? LogError(.conflict) : error }
    }

    // Nothing leads to what is left of it; a rule of the bucket removes it.
    func discard() {}
}
