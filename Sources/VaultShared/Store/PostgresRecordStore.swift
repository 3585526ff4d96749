private import Glibc
import LinuxSystem
import SealedLog
import Vault

/// The bytes of a sealed log in the tables of a database; see ``Schema``.
///
/// The newest bytes stay in memory until newer bytes arrive. A check of the log's end costs one round trip, which also
/// returns any appended bytes.
final class PostgresRecordStore: NewStore {
    let location: PostgresLocation
    let generation: UInt64
    let identity: RecordStoreIdentity
    let state: Mutex<State>
    private let processID = getpid()

    init(_ location: PostgresLocation, _ state: State) {
        self.location = location
        generation = state.head.generation
        identity = RecordStoreIdentity(withUnsafeBytes(of: generation) { Array($0) } + Array(location.path.utf8))
        self.state = Mutex(state)
        if state.construction == nil { location.noteFound() }
    }

    convenience init(_ location: PostgresLocation, as head: StoreHead) {
        self.init(
            location,
            State(
                head: head, pieces: [], tail: StoreBytes(offset: head.size), copy: .own, phase: .kept(isOpen: false)))
    }

    var path: String { location.path }
    var vaultName: [UInt8]? { location.name }
    var machineCopy: (any MachineCopy)? { self }
    var server: (any StoreServer)? { self }
    var deadBytesFloor: UInt64 { Limits.sharedDeadBytesFloor }

    // Whether this process has opened the store. A child process must not use a connection of its parent.
    var isOfThisProcess: Bool { processID == getpid() }

    func isCurrent() throws(LogError) -> Bool {
        state.withLock { $0.head.generation == generation && !$0.isLeftForPending }
    }

    func reopened() throws(LogError) -> any RecordStore { try location.open(.fresh) }

    func synchronize() throws(LogError) { try flushConstruction() }

    func size() throws(LogError) -> UInt64 { state.withLock { $0.construction?.size ?? $0.sizeFound ?? $0.own.size } }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int {
        try flushConstruction()
        let size = try size()
        guard offset < size, buffer.count > 0 else { return 0 }
        let range = offset..<min(size, offset + UInt64(buffer.count))
        let (pieces, isMirrored, isDoubted, isKept, hint) = state.withLock { state in
            (
                state.pieces + [state.tail, state.block], state.isMirrored, state.doubts > 0, state.isKept,
                state.construction == nil ? state.own.hint : nil
            )
        }
        // The login to the server continues while the log is opened from the local copy.
        if isKept { location.pool.goOn() }
        let isKnown =
            pieces.contains { $0.copy(range, into: buffer) }
            || isMirrored && !isDoubted && location.mirror?.copy(range, of: generation, into: buffer) == true
        let count = isKnown ? range.count : try fetch(range, into: buffer)
        // A file's header has the hint to the newest minor checkpoint. Here, it is copied from the vault's row.
        if let hint, count == range.count { hint.copy(into: buffer, of: range) }
        return count
    }

    /// The size of the blocks that are read for the local copy. Reading more bytes costs less than another round trip.
    static let blockSize: UInt64 = 64 << 10

    private func fetch(_ wanted: Range<UInt64>, into buffer: UnsafeMutableRawBufferPointer) throws(LogError) -> Int {
        let (isMirrored, isWhole, own) = state.withLock {
            ($0.isMirrored && !$0.isKept, $0.construction == nil, $0.own)
        }
        try checkServer()
        var range = wanted
        // A store under construction is not read in whole blocks, because it still has gaps.
        if isWhole {
            let blockSize = PostgresRecordStore.blockSize
            let blockEnd = (wanted.upperBound + blockSize - 1) / blockSize * blockSize
            let blockStart = wanted.lowerBound / blockSize * blockSize
            range = blockStart..<max(wanted.upperBound, min(blockEnd, own.size))
        }
        var block = [UInt8]()
        let end = try receive(range) { offset, piece in
            if isWhole { block += piece }
            let shared = (offset..<offset + UInt64(piece.count)).clamped(to: wanted)
            guard !shared.isEmpty else { return }
            let bytes = piece[Int(shared.lowerBound - offset)..<Int(shared.upperBound - offset)]
            UnsafeMutableRawBufferPointer(rebasing: buffer[Int(shared.lowerBound - wanted.lowerBound)...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
        }
        let bytes = StoreBytes(offset: range.lowerBound, bytes: block)
        let isKept = isMirrored && location.mirror?.keep(bytes, of: own) == true
        // The block stays in memory if the local copy does not accept it, for example on a full disk or during a
        // verification. Consecutive reads then need fewer round trips.
        if !block.isEmpty { state.withLock { if !isKept || $0.doubts > 0 { $0.keep(bytes) } } }
        return Int(max(wanted.lowerBound, min(wanted.upperBound, end)) - wanted.lowerBound)
    }

    /// Requests the bytes of a range, and passes them to `take` as they arrive. Returns the end of the received bytes.
    private func receive(
        _ range: Range<UInt64>, _ take: (_ offset: UInt64, _ bytes: UnsafeRawBufferPointer) -> Void
    ) throws(LogError) -> UInt64 {
        let statement = Statement.bytes(generation, range)
        let deadline = Deadline(after: location.timeout)
        var end = range.lowerBound
        func takeRows(_ rows: Rows) throws(PostgresError) {
            end = try rows.pieces(from: end, upTo: range.upperBound, take)
        }
        // A writer reads on its transaction's connection, so it needs no other connection.
        let (construction, transaction) = state.withLock { ($0.construction?.connection, $0.transaction?.connection) }
        let own = construction ?? transaction
        do throws(PostgresError) {
            if try own?.rowsIfFree(of: statement, until: deadline, takeRows) ?? false { return end }
        } catch {
            // If the transaction's connection fails, another one is used, because the transaction may be another
            // thread's. A store under construction, however, can be read only on its own connection.
            guard construction == nil else { throw location.translation(of: error) }
        }
        try location.attempt(until: deadline) { () throws(PostgresError) in
            // Bytes that arrived before a connection was lost are not requested again.
            try location.pool.withConnection(until: deadline) { (connection) throws(PostgresError) in
                try connection.rows(of: .bytes(generation, end..<range.upperBound), until: deadline, takeRows)
            }
        }
        return end
    }

    func checkServer() throws(LogError) {
        guard try !location.isOffline() else {
            throw LogError(.unreachable, "This machine's copy of \(path) is incomplete. Retry once the server answers.")
        }
    }
}

extension Hint {
    fileprivate func copy(into buffer: UnsafeMutableRawBufferPointer, of range: Range<UInt64>) {
        let shared = range.clamped(to: Hint.range)
        guard !shared.isEmpty else { return }
        for offset in shared { buffer[Int(offset - range.lowerBound)] = encoded[Int(offset - Hint.range.lowerBound)] }
    }
}
