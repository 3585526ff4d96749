import LinuxSystem
import SealedLog

// What this machine keeps of the store, and what is read past it, after some of it did not authenticate, or to verify
// the server's bytes. What is in doubt never replaces what is known: a server's damage would destroy what it can be
// restored from.

extension PostgresRecordStore: MachineCopy {
    // As long as the store itself is what was kept, there is nothing to compare it with. On a full disk, nothing
    // replaces a copy that is a file already.
    var head: LogPosition? {
        guard state.withLock({ !$0.isKept }) else { return nil }
        let head = location.mirror?.savedHead?.position
        return location.copyInFile.withLock { $0 == head } ? nil : head
    }

    func save(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError) {
        try location.keepCopy(upTo: end)
        // It has another history, or is longer: nothing of it counts for this store.
        state.withLock { $0.copy = .another(isContinued: false) }
    }

    func accept(over kept: LogPosition?, continuing isContinued: Bool) {
        if let kept { location.mirror?.learnIncluded(kept) }
        // The log was compared with it.
        let head = state.withLock { state in state.accept(continuing: isContinued) ? state.head : nil }
        if let head { mirror(as: head) }
    }

    func follow(to head: LogPosition, over kept: LogPosition?) {
        if let kept { location.mirror?.learnIncluded(kept) }
        let (followed, isOpen) = state.withLock { ($0.takeFollowed(to: head), $0.isOpen) }
        if isOpen, let followed { mirror(followed.bytes, as: followed.head) }
    }

    func explanation(of error: LogError) -> LogError { state.withLock { $0.isKept } ? error.ofKept(path) : error }

    func beginPending(
        until deadline: Deadline, _ check: (any RecordStore) throws(LogError) -> Void
    ) throws(LogError) {
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
        else {
            return
        }
        // Another process may have kept more.
        mirror.reread()
        let gaps = mirror.gaps(of: head)
        // To read all of a large vault is left to those who ask for it.
        guard (1...Self.mostCompleted).contains(gaps.reduce(0) { $0 + UInt64($1.count) }) else { return }
        var (wanted, room) = ([Range<UInt64>](), Self.completedAtOnce)
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
        // A holder of the lock must not wait for another connection.
        if !state.withLock({ $0.isLocked }) {
            guard try location.currentHead() != nil else { throw location.absence }
        }
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
    /// Keeps what was learnt, on this machine.
    ///
    /// - Parameter head: what the log was compared with: nothing else that the database says of its end is kept.
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
        // Until the copy has forgotten its former bytes, nothing is read from it; nor is it where they stay, since some
        // may be why this store was opened.
        guard mirror.keep(head, pieces + newBytes, isNew: isNew), case .another = copy else { return }
        let confirmed = state.withLock { state in
            state.copy = .own
            if !isNew { state.doubts += 1 }
            return state.takeConfirmed()
        }
        for bytes in confirmed { bytes.withBytes(of: bytes.range) { confirm($0, at: bytes.offset) } }
    }

    /// How many bytes a command reads for the copy beyond what it needs, and how many may be missing for that.
    static let (completedAtOnce, mostCompleted): (UInt64, UInt64) = (256 << 10, 8 << 20)
}
