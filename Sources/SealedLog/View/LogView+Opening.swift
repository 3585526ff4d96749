import LinuxSystem
import Sealing

/// A vault's header, with the header's second copy, as read from the file. Neither is authenticated yet.
struct HeaderImage {
    let store: any RecordStore
    let header: Result<Header, LogError>
    private let bytes: [UInt8]

    init(of store: any RecordStore) throws(LogError) {
        self.store = store
        let bytes = try store.available(at: 0, upTo: 2 * Header.size)
        guard !bytes.isEmpty else { throw LogError.damaged("the header is missing") }
        guard bytes.count == 2 * Header.size else { throw LogError.damaged("the file ends within its header") }
        self.bytes = bytes
        header = Result { () throws(LogError) in
            do throws(LogError) { return try Header(parsing: Array(bytes[..<Header.size])) } catch {
                // In a newer format, the header and its copy state one version. Different versions indicate damage.
                guard error.code == .newerFormat, !Header.haveOneVersion(in: bytes) else { throw error }
                throw .damaged("the header's version, which differs from its copy's")
            }
        }
    }

    /// Returns whether the header or its copy has this vault ID. One of them may be damaged.
    func mayBe(of vaultID: [UInt8]) -> Bool {
        let copy = try? Header(parsing: Array(bytes[Header.copyOffset...]))
        return [try? header.get(), copy].contains { $0?.vaultID == vaultID }
    }

    /// Opens a slot with one of the unlocker's credentials, and derives the subkeys from the data key in that slot.
    func unlock(_ unlocker: inout some Unlocker & ~Copyable) throws(LogError) -> KeyRing {
        let locked = LockedVault(vaultID: (try? header.get().vaultID) ?? [], slots: (try? header.get().slots) ?? [])
        while let credential = try next(&unlocker, locked) {
            do throws(LogError) { return try header.get().slots.unlock(with: credential) } catch {
                // Trying the slots of the header and its copy must not exceed the cost limit for a single header.
                let error = explained(error) { copy in
                    let tried = copy.slots + locked.slots.filter { !copy.slots.contains($0) }
                    return tried.isBearable(for: credential) ? try? copy.slots.unlock(with: credential) : nil
                }
                guard error.code == .keyWrong else { throw error }
            }
        }
        _ = try header.get()
        throw unlocker.failure
    }

    /// Returns the next credential. If the unlocker fails and the header is damaged, throws the header's error instead.
    private func next(_ unlocker: inout some Unlocker & ~Copyable, _ locked: LockedVault) throws(LogError)
        -> Credential?
    {
        do { return try unlocker.next(for: locked) } catch {
            _ = try header.get()
            throw error
        }
    }

    /// Returns whether the slot that opened the vault still exists, or true if the keys do not come from a slot.
    func hasSlot(of keys: KeyRing) -> Bool {
        guard let slot = keys.slot else { return true }
        return (try? header.get().slots.contains { $0.salt == slot.salt }) ?? false
    }

    var hint: Hint? { Header.hint(in: bytes) }

    /// Authenticates the header. Returns a view that includes no records yet.
    func view(with keys: KeyRing) throws(LogError) -> LogView {
        do throws(LogError) {
            let header = try header.get()
            let authenticator = try Header.authenticate(bytes, with: keys)
            try store.checkName(of: header)
            confirm()
            return LogView(store: store, keys: keys, header: header, authenticator: authenticator)
        } catch { throw explained(error) { _ in keys } }
    }

    /// Passes the authenticated bytes to this machine's copy of the vault. These are the header without its hint,
    /// which the MAC does not cover, and the header's copy in the file if it is intact.
    private func confirm() {
        guard let kept = store.machineCopy else { return }
        bytes.withUnsafeBytes { bytes in
            kept.confirm(UnsafeRawBufferPointer(rebasing: bytes[..<Header.hintOffset]), at: 0)
            guard Header.copyHolds(in: self.bytes) else { return }
            let copy = UnsafeRawBufferPointer(rebasing: bytes[Header.copyOffset...])
            kept.confirm(copy, at: UInt64(Header.copyOffset))
        }
    }

    /// Authenticates the header of a vault that was opened before. Its data key may since have been rotated. Throws
    /// `keyWrong` or `identityRemoved` if the slot that opened the vault has been removed.
    func view(following keys: KeyRing) throws(LogError) -> LogView {
        do throws(LogError) { return try view(with: keys) } catch {
            guard error.code == .damaged, let slots = try? header.get().slots else { throw error }
            guard slots.contains(where: { $0.salt == keys.slot?.salt }) else {
                throw LogError(keys.slot?.isOfRecipient == true ? .identityRemoved : .keyWrong)
            }
            guard let rotated = try? slots.unlock(again: keys) else { throw error }
            return try view(with: rotated)
        }
    }

    /// Returns `damaged` instead of `error` if the header has changed and its copy is intact. Without this check, a
    /// changed slot would be reported as a wrong key, and a changed version as a newer format.
    private func explained(_ error: LogError, _ keys: (_ copy: Header) -> KeyRing?) -> LogError {
        let copy = Array(bytes[Header.copyOffset...])
        guard [.damaged, .keyWrong, .newerFormat].contains(error.code), !Header.copyHolds(in: bytes),
            let keys = (try? Header(parsing: copy)).flatMap(keys), (try? Header.authenticate(copy, with: keys)) != nil
        else { return error }
        let what = error.code == .damaged ? error.detail : "the header"
        return .damaged("\(what), while its copy at byte \(Header.copyOffset) is intact")
    }
}

// MARK: - Opening again

extension LogView {
    /// Reads a whole log without using its hint. No process may write during the call. `keys` may predate a rotation.
    static func whole(_ store: any RecordStore, _ keys: KeyRing) throws(LogError) -> LogView {
        try whole(HeaderImage(of: store).view(following: keys))
    }

    private static func whole(_ view: LogView) throws(LogError) -> LogView {
        var view = view
        try view.followToEnd(from: nil, durable: nil, covering: [], isLocked: true)
        return view
    }

    /// Reads a whole log. If the slot that opened the vault before has been removed, opens the vault with the unlocker.
    static func whole(
        _ store: any RecordStore, _ keys: KeyRing, orUnlockedBy unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> LogView {
        do throws(LogError) { return try whole(store, keys) } catch {
            guard [.keyWrong, .identityRemoved].contains(error.code) else { throw error }
        }
        let image = try HeaderImage(of: store)
        unlocker.restart()
        return try whole(image.view(with: image.unlock(&unlocker)))
    }

    /// Opens the vault again from the store that is currently at its location. The caller holds the store's lock.
    ///
    /// - Parameters:
    ///   - remembered: the position that was read from the rollback memory before the store was opened.
    ///   - isAccepted: returns whether to use a store that lacks a position of this view or of the rollback memory.
    /// - Throws: `exchanged` if the store is another vault; `rolledBack` or `diverged` if it lacks such a position and
    ///   is not accepted; `keysChanged` or `identityRemoved`; the errors of opening.
    func reopened(
        on store: any RecordStore, knowing remembered: Remembered?,
        acceptingIf isAccepted: (LogView) throws(LogError) -> Bool = { (_) throws(LogError) in false }
    ) throws(LogError) -> LogView {
        let image = try HeaderImage(of: store)
        if case .success(let header) = image.header, header.vaultID != self.header.vaultID {
            try store.checkName(of: header)
            throw LogError(.exchanged, store.path)
        }
        var view = try image.view(following: keys)
        // A log of pending changes may start at an older position, so it need not include the newest known positions.
        let known = store.target == nil ? [durable, try remembered?.position(of: view)].compactMap(\.self) : []
        try view.followToEnd(from: image.hint, durable: durable, covering: known, isLocked: true)
        for position in known {
            if let alarm = try view.alarm(against: position), try !isAccepted(view) { throw alarm }
        }
        try view.replaceCopy()
        // This process may have opened an old copy on this machine with a key that has since been removed from the
        // vault. It has not returned a value yet, so it can still report the error.
        if !isCompared, !image.hasSlot(of: keys) {
            throw LogError(keys.slot?.isOfRecipient == true ? .identityRemoved : .keysChanged)
        }
        view.isCompared = true
        return view
    }

    /// Replaces this machine's copy with one of this store. First saves it if it may have changes this store lacks.
    ///
    /// - Parameters:
    ///   - isAccepted: whether this log may lack the newest position of the old copy, because the vault is new or the
    ///     user has accepted a rollback error.
    ///   - isJoined: returns whether a position is included in another copy, which will be merged into the vault next.
    mutating func replaceCopy(
        isAccepted: Bool = false, unless isJoined: (LogPosition) -> Bool = { _ in false }
    ) throws(LogError) {
        guard let copy = store.machineCopy else { return }
        var kept = copy.head
        if let found = kept, !isJoined(found), try lacks(found, isAccepted) {
            // Another process may have written newer records since this process read the log's end. If a compaction has
            // replaced the store, whether to replace the copy is decided when the new store is opened.
            if !isAccepted, try !refresh(), try !store.isCurrent() { return }
            if try lacks(found, isAccepted) {
                try save(copy)
                kept = nil
            }
        }
        let isContinued = if let kept { try includes(kept) == .included } else { false }
        copy.accept(over: kept, continuing: isContinued)
    }

    private func save(_ copy: any MachineCopy) throws(LogError) {
        try copy.save { (copy) throws(LogError) in
            var kept = try HeaderImage(of: copy).view(following: keys)
            var reader = kept.reader
            _ = try kept.catchUp(&reader)
            return kept.end
        }
    }

    private func lacks(_ kept: LogPosition, _ isAccepted: Bool) throws(LogError) -> Bool {
        try isAccepted ? includes(kept) != .included : alarm(against: kept) != nil
    }

    // MARK: Reading the log from its header to its end

    /// Follows the log to its end and checks that the bytes after it do not indicate damage.
    ///
    /// - Parameters:
    ///   - hint: the hint to start from, if it points to a minor checkpoint that belongs to this header.
    ///   - durable: a position known to be durable. If its record has a large payload, that payload is not checked.
    ///   - known: positions that the view must include. If one is older than the hint, the hint is not used.
    ///   - isLocked: whether a lock excludes writers. Otherwise, an invalid record after the log's end is `damaged`.
    mutating func followToEnd(
        from hint: Hint?, durable: LogPosition?, covering known: [LogPosition], isLocked: Bool
    ) throws(LogError) {
        let unfollowed = self
        let size = try store.size()
        guard size >= end else { throw LogError.damaged("the file ends within its checkpoint") }
        var reader = reader
        if let hint { try start(at: hint, &reader, durable: durable) }
        let ending = try catchUp(&reader, durable: durable)
        // A writer may have extended the file since its size was read.
        let tail = max(size, end) - end
        guard tail <= Limits.tailSize else {
            throw LogError.damaged("\(tail >> 20) MiB follow the log's end, more than a record can have,", at: end)
        }
        if !isLocked {
            guard case .nothing = ending else { throw LogError.damaged("the log's end", at: end) }
        }
        try examineTail(ending)
        for position in known where position.sequence <= head.sequence {
            guard try includes(position) == .unknown else { continue }
            self = unfollowed
            return try followToEnd(from: nil, durable: durable, covering: [], isLocked: isLocked)
        }
    }

    mutating func examineTail(_ ending: RecordReader.Finding) throws(LogError) {
        let remains: LogTail.Remains =
            switch ending {
            case .nothing, .record: .nothing
            case .failing(let reason): .failing(reason)
            case .foreign(let reason): .foreign(reason)
            }
        let state = try store.examine(LogTail(end: end, head: head, remains: remains, vaultID: header.vaultID))
        needsClearing = state.needsClearing
        if state.isDurable { durable = head }
    }

    private mutating func start(at hint: Hint, _ reader: inout RecordReader, durable: LogPosition?) throws(LogError) {
        guard hint.offset >= end, hint.offset.isMultiple(of: 16), max(hint.offset, hint.sequence) < Limits.sequence,
            case .record(let record) = try reader.record(at: hint.offset, after: nil),
            record.index.sequence == hint.sequence, record.index.sequence > origin.sequence,
            let tree = record.index.tree, tree.header == origin.authenticator,
            BoundName.admits(record.index, under: header.name), try isWhole(record, &reader, durable: durable)
        else { return }
        head = record.previous
        passed = [head]
        apply(record)
    }

    private func isWhole(
        _ record: Record, _ reader: inout RecordReader, durable: LogPosition?
    ) throws(LogError) -> Bool {
        if record.needsNoCheck(durable) { return true }
        // If another record follows, this record is whole, because writers append only after a durable record.
        if case .record = try reader.record(at: record.end, after: record.position) { return true }
        return try reader.payloadHolds(record)
    }
}

// MARK: - The checkpoint

extension LogView {
    func manifest() throws(LogError) -> Manifest {
        let extent = header.manifest
        let bytes = try loader.open(extent, "the manifest")
        do { return try Manifest(parsing: bytes, of: header) } catch {
            throw LogError.damaged("the manifest (\(error.what))", at: extent.offset)
        }
    }

    func checkHeaderCopy() throws(LogError) {
        try store.rereading { () throws(LogError) in
            guard Header.copyHolds(in: try store.bytes(at: 0, count: 2 * Header.size)) else {
                throw LogError.damaged("the header's copy", at: UInt64(Header.copyOffset))
            }
        }
    }
}
