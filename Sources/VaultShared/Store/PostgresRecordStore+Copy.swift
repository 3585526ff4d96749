import LinuxSystem
import SealedLog

// How the store uses this machine's copy. Reads bypass the copy after parts of it have failed to authenticate, and
// while the server's bytes are being verified. Only authenticated bytes replace bytes of the copy. Otherwise damage on
// the server would destroy the copy from which the server can be repaired.

extension PostgresRecordStore: MachineCopy {
    // The local copy's last log position, for comparison with this store; nil if this store is itself read from the
    // copy, or if a file already contains the copy up to this position, so that it is not saved twice.
    var head: LogPosition? {
        guard state.withLock({ !$0.isKept }) else { return nil }
        let head = location.mirror?.savedHead?.position
        return location.copyInFile.withLock { $0 == head } ? nil : head
    }

    func save(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError) {
        try location.keepCopy(upTo: end)
        // The copy has another history, or is longer than this store. None of its bytes are valid for this store.
        state.withLock { $0.copy = .another(isContinued: false) }
    }

    func accept(over kept: LogPosition?, continuing isContinued: Bool) {
        if let kept { location.mirror?.setIncluded(kept) }
        // Saves the copy only up to this head, because the log's end has been compared with no later one.
        let head = state.withLock { state in state.accept(continuing: isContinued) ? state.head : nil }
        if let head { mirror(as: head) }
    }

    func follow(to head: LogPosition, over kept: LogPosition?) {
        if let kept { location.mirror?.setIncluded(kept) }
        let (followed, isOpen) = state.withLock { ($0.takeFollowed(to: head), $0.isOpen) }
        if isOpen, let followed { mirror(followed.bytes, as: followed.head) }
    }

    func explanation(of error: LogError) -> LogError { state.withLock { $0.isKept } ? error.ofKept(path) : error }

    func beginPending(until deadline: Deadline, _ check: (any RecordStore) throws(LogError) -> Void) throws(LogError) {
        guard state.withLock({ $0.isLeftForPending }) else { return }
        do throws(LogError) { try location.beginPending(until: deadline, check) } catch {
            state.withLock { $0.isLeftForPending = false }
            throw error
        }
    }

    func complete() {
        let head = state.withLock { state in
            let isOwn = state.isMirrored && state.isOpen && !state.isKept && !state.isLeftForPending
            return isOwn && state.transaction == nil && state.construction == nil ? state.own : nil
        }
        guard let mirror = location.mirror, let head, mirror.completePath == nil, (try? location.isOffline()) == false
        else { return }
        // Another process may have saved later bytes to the copy since this process last read the copy's state.
        mirror.reread()
        let gaps = mirror.gaps(of: head)
        // If the local copy lacks more than ``mostCompleted`` bytes, it is completed only on request.
        guard (1...Self.mostCompleted).contains(gaps.reduce(0) { $0 + UInt64($1.count) }) else { return }
        var wanted: [Range<UInt64>] = []
        var room = Self.completedAtOnce
        for gap in gaps.reversed() where room > 0 {
            let range = gap.upperBound - min(UInt64(gap.count), room)..<gap.upperBound
            wanted.append(range)
            room -= UInt64(range.count)
        }
        guard let rows = try? location.flight(wanted.map { .bytes(generation, $0) }) else { return }
        for (range, rows) in zip(wanted, rows) {
            if let bytes = try? StoreBytes(rows, from: range.lowerBound), bytes.end <= range.upperBound {
                _ = mirror.keep(bytes, of: head)
            }
        }
    }

    func distrust() throws(LogError) -> Bool {
        guard state.withLock({ !$0.isKept }) else { return false }
        try checkServer()
        // Checking for the vault needs another connection, and a process with the vault's lock must not wait for one.
        if !state.withLock({ $0.isLocked }), try location.currentHead() == nil { throw location.absence }
        state.withLock { $0.doubt() }
        return true
    }

    func endDoubt() { state.withLock { $0.doubts = max(0, $0.doubts - 1) } }

    func confirm(_ authentic: UnsafeRawBufferPointer, at offset: UInt64) {
        guard let mirror = location.mirror else { return }
        let doubted = state.withLock { state in
            state.keep(confirmed: authentic, at: offset)
            return state.isMirrored && state.doubts > 0 ? state.own : nil
        }
        guard let doubted else { return }
        let range = offset..<offset + UInt64(authentic.count)
        for known in mirror.ranges(of: generation) ?? [] {
            let shared = known.clamped(to: range)
            guard !shared.isEmpty else { continue }
            var kept = [UInt8](repeating: 0, count: shared.count)
            guard kept.withUnsafeMutableBytes({ mirror.copy(shared, of: generation, into: $0) }) else { continue }
            let start = Int(shared.lowerBound - offset)
            let bytes = authentic[start..<start + shared.count]
            guard !bytes.elementsEqual(kept) else { continue }
            mirror.replace(StoreBytes(offset: shared.lowerBound, bytes: Array(bytes)), of: doubted)
        }
    }
}

extension PostgresRecordStore {
    /// Saves `newBytes`, and the bytes that this store has read, to the local copy.
    ///
    /// - Parameter head: the head with which the log has been compared. Later heads are not saved.
    func mirror(_ newBytes: [StoreBytes] = [], as head: StoreHead) {
        guard let mirror = location.mirror, head.generation == generation else { return }
        let (pieces, copy) = state.withLock { state in
            let unconfirmed = exchange(&state.unconfirmed, with: [])
            return (state.isMirrored ? unconfirmed : state.pieces + [state.tail, state.block], state.copy)
        }
        let isNew: Bool
        switch copy {
        case .own: isNew = false
        case .another(let isContinued): isNew = !(isContinued && mirror.savedHead?.generation == generation)
        }
        // If the local copy's old bytes were dropped, reads use the copy from now on. If they were kept, reads bypass
        // the copy for now, because bad bytes in it may be why this store was opened.
        guard mirror.keep(head, pieces + newBytes, isNew: isNew), case .another = copy else { return }
        let confirmed = state.withLock { state in
            state.copy = .own
            if !isNew { state.doubts += 1 }
            return state.takeConfirmed()
        }
        for bytes in confirmed { bytes.withBytes(of: bytes.range) { confirm($0, at: bytes.offset) } }
    }

    /// The maximum number of bytes that one command reads from the server just to fill gaps in the local copy.
    static let completedAtOnce: UInt64 = 256 << 10
    /// If the local copy lacks more bytes than this, commands fill its gaps only on request.
    static let mostCompleted: UInt64 = 8 << 20
}
