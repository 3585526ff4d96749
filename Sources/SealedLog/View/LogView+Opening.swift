import LinuxSystem
import Sealing

/// A vault's header and its copy, as read from the file: not yet authenticated.
struct HeaderImage {
    let store: any RecordStore
    let header: Result<Header, LogError>
    private let bytes: [UInt8]

    init(of store: any RecordStore) throws(LogError) {
        self.store = store
        let bytes = try store.available(at: 0, upTo: 2 * Header.size)
        guard !bytes.isEmpty else {
            throw LogError.damaged("the header is missing")
        }
        guard bytes.count == 2 * Header.size else { throw LogError.damaged("the file is cut within its header") }
        self.bytes = bytes
        header = Result { () throws(LogError) in
            do throws(LogError) { return try Header(parsing: Array(bytes[..<Header.size])) } catch {
                // The copy of a header of a later format has its version, too.
                guard error.code == .newerFormat, !Header.haveOneVersion(in: bytes) else { throw error }
                throw .damaged("the header's version, which differs from that of its copy")
            }
        }
    }

    /// Whether the header, or its copy, says that it is of a vault: one of them may be damaged.
    func mayBe(of vaultID: [UInt8]) -> Bool {
        let copy = try? Header(parsing: Array(bytes[Header.copyOffset...]))
        return [try? header.get(), copy].contains { $0?.vaultID == vaultID }
    }

    /// Derives the subkeys from the data key in the slot that one of the unlocker's credentials opens.
    func unlock(_ unlocker: inout some Unlocker & ~Copyable) throws(LogError) -> KeyRing {
        let locked = LockedVault(vaultID: (try? header.get().vaultID) ?? [], slots: (try? header.get().slots) ?? [])
        while let credential = try next(&unlocker, locked) {
            do throws(LogError) { return try header.get().slots.unlock(with: credential) } catch {
                // All slots that are tried, of header and copy, may ask for no more work than those of one header.
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

    /// Asks for the next credential. A damaged header is reported before a missing key.
    private func next(_ unlocker: inout some Unlocker & ~Copyable, _ locked: LockedVault) throws(LogError)
        -> Credential?
    {
        do { return try unlocker.next(for: locked) } catch {
            _ = try header.get()
            throw error
        }
    }

    /// Whether the slot is still there that has opened the vault. Keys that come from no slot need none.
    func hasSlot(of keys: KeyRing) -> Bool {
        guard let slot = keys.slot else { return true }
        return (try? header.get().slots.contains { $0.salt == slot.salt }) ?? false
    }

    var hint: Hint? { Header.hint(in: bytes) }

    /// Authenticates the header. Returns the view of a log that has not been followed yet.
    func view(with keys: KeyRing) throws(LogError) -> LogView {
        do throws(LogError) {
            let header = try header.get()
            let authenticator = try Header.authenticate(bytes, with: keys)
            try header.checkName(in: store)
            confirm()
            return LogView(store: store, keys: keys, header: header, authenticator: authenticator)
        } catch { throw explained(error) { _ in keys } }
    }

    /// Confirms the header, but for the hint, which the MAC does not cover; and the copy, if it is one.
    private func confirm() {
        guard let kept = store.machineCopy else { return }
        bytes.withUnsafeBytes { bytes in
            kept.confirm(UnsafeRawBufferPointer(rebasing: bytes[..<Header.hintOffset]), at: 0)
            guard Header.copyHolds(in: self.bytes) else { return }
            let copy = UnsafeRawBufferPointer(rebasing: bytes[Header.copyOffset...])
            kept.confirm(copy, at: UInt64(Header.copyOffset))
        }
    }

    /// Does the same for a vault that was open before, whose data key may have been rotated since. Throws `keyWrong`,
    /// or `identityRemoved`, if the slot that opened it is gone.
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

    /// Returns damage instead of an error if the header's copy shows that a changed header is behind it: a changed slot
    /// looks like a wrong key, and a changed version like a newer format.
    private func explained(_ error: LogError, _ keys: (_ copy: Header) -> KeyRing?) -> LogError {
        let copy = Array(bytes[Header.copyOffset...])
        guard [.damaged, .keyWrong, .newerFormat].contains(error.code), !Header.copyHolds(in: bytes),
            let keys = (try? Header(parsing: copy)).flatMap(keys), (try? Header.authenticate(copy, with: keys)) != nil
        else { return error }
        let what = error.code == .damaged ? error.detail : "the header"
        return .damaged("\(what), while its copy at byte \(Header.copyOffset) is whole")
    }
}

// MARK: - Opening again

extension LogView {
    /// Reads a whole log, without a hint, while no process can write to it. The data key may have been rotated.
    static func whole(_ store: any RecordStore, _ keys: KeyRing) throws(LogError) -> LogView {
        try whole(HeaderImage(of: store).view(following: keys))
    }

    private static func whole(_ view: LogView) throws(LogError) -> LogView {
        var view = view
        try view.followToEnd(from: nil, durable: nil, covering: [], isLocked: true)
        return view
    }

    /// Does the same. If the slot is gone that has opened the log before, the unlocker opens it.
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

    /// Reads the file that is at the path now. Its lock is held.
    ///
    /// - Parameters:
    ///   - remembered: what this machine remembers of the vault; read before the file.
    ///   - isAccepted: whether the file counts although it lacks what this view knows or what was seen.
    /// - Throws: `exchanged` if it is another vault, `rolledBack` or `diverged` if it lacks what this view knows or
    ///   what was seen; `keysChanged` or `identityRemoved`; also what opening throws.
    func reopened(
        on store: any RecordStore, knowing remembered: Remembered?,
        acceptingIf isAccepted: (LogView) throws(LogError) -> Bool = { (_) throws(LogError) in false }
    ) throws(LogError) -> LogView {
        let image = try HeaderImage(of: store)
        if case .success(let header) = image.header, header.vaultID != self.header.vaultID {
            try header.checkName(in: store)
            throw LogError(.exchanged, store.path)
        }
        var view = try image.view(following: keys)
        // Changes that wait to be merged may follow less than what this process has seen of the vault itself.
        let known = store.target == nil ? [durable, try remembered?.position(of: view)].compactMap(\.self) : []
        try view.followToEnd(from: image.hint, durable: durable, covering: known, isLocked: true)
        for position in known {
            if let alarm = try view.alarm(against: position), try !isAccepted(view) { throw alarm }
        }
        try view.replaceCopy()
        // What this machine has kept may be from before the key was removed that has opened it: nobody was let in yet.
        if !isCompared, !image.hasSlot(of: keys) {
            throw LogError(keys.slot?.isOfRecipient == true ? .identityRemoved : .keysChanged)
        }
        view.isCompared = true
        return view
    }

    /// Lets the copy that this machine keeps become one of this store. If it may be the only place of a change, it is
    /// kept as a file before.
    ///
    /// - Parameters:
    ///   - isAccepted: whether nothing tells that this log includes it: it is a new vault, or one that is accepted in
    ///     spite of an alarm.
    ///   - isJoined: whether a copy that is merged next includes a position.
    mutating func replaceCopy(
        isAccepted: Bool = false, unless isJoined: (LogPosition) -> Bool = { _ in false }
    ) throws(LogError) {
        guard let copy = store.machineCopy else { return }
        var kept = copy.head
        if let found = kept, !isJoined(found), try lacks(found, isAccepted) {
            // Another process may have kept what came since this one has read the end. If a compaction has replaced
            // the store, whoever opens the next one decides.
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

    // MARK: From a header to the end

    /// Follows the log to its end and checks that there is nothing behind it.
    ///
    /// - Parameters:
    ///   - hint: where to begin, if it names a minor checkpoint of this header.
    ///   - durable: a position known to be durable: a large payload of that record is not checked.
    ///   - known: positions that the view has to know: if one is older than the hint, the hint is not followed.
    ///   - isLocked: whether no process can write now. Otherwise anything behind the log's end is `damaged` too.
    mutating func followToEnd(
        from hint: Hint?, durable: LogPosition?, covering known: [LogPosition], isLocked: Bool
    ) throws(LogError) {
        let unfollowed = self
        let size = try store.size()
        guard size >= end else { throw LogError.damaged("the file is cut within its checkpoint") }
        var reader = reader
        if let hint { try start(at: hint, &reader, durable: durable) }
        let ending = try catchUp(&reader, durable: durable)
        // A writer may have made the file longer meanwhile.
        let tail = max(size, end) - end
        guard tail <= Limits.tailSize else {
            throw LogError.damaged("\(tail >> 20) MiB lie behind the log's end, more than a record takes,", at: end)
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

    /// Decides, while no process can write, what is at the end.
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
            BoundName.admits(record.index, under: header.name),
            try isWhole(record, &reader, durable: durable)
        else { return }
        head = record.previous
        passed = [head]
        apply(record)
    }

    private func isWhole(
        _ record: Record, _ reader: inout RecordReader, durable: LogPosition?
    ) throws(LogError) -> Bool {
        if record.needsNoCheck(durable) { return true }
        // A record was written only after the one before it was durable.
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
