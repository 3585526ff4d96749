// A store may be replaced only by a store that includes all of its changes. These initializers enforce this rule.

extension Replaceable {
    /// Marks a log's store as replaceable, because a compaction has copied all of the log's records.
    init(compacted view: LogView) { self.init(contained: view.store) }

    /// Marks the store at a copy's target as replaceable if the copy includes all of the store's changes.
    ///
    /// - Parameters:
    ///   - history: the history of the copy.
    ///   - unlocker: finds the key if the copy's keys do not open the store at the target.
    /// - Throws: `notContained` if the store has changes that the copy lacks; `notCompared` if the store and the copy
    ///   cannot be compared; `notACopy` if the store contains another vault or cannot be opened; `rolledBack` if the
    ///   store is damaged and may have contained later changes.
    init(
        _ store: any RecordStore, copiedWith history: CopiedHistory, _ unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) {
        self.init(contained: store)
        // An empty file may be replaced, since a program may have created it to reserve the name.
        if store.server == nil, try store.size() == 0 { return }
        switch try history.inclusion(of: store, &unlocker) {
        case .included: return
        case .excluded: throw LogError(.notContained, store.path)
        case .unknown: throw LogError(.notCompared, store.path)
        }
    }
}

/// The history of a copy, for comparison with the store that the copy will replace.
struct CopiedHistory {
    private let vaultID: [UInt8]
    private let keys: KeyRing
    /// The memory subkeys of the copy's current and former data keys.
    private let memoryKeys: Set<[UInt8]>
    private let positions: KnownHistory
    /// Whether the caller accepts that later changes in the replaced store may be lost.
    private let isOlderAccepted: Bool

    init(of view: LogView, isOlderAccepted: Bool) throws(LogError) {
        self.isOlderAccepted = isOlderAccepted
        vaultID = view.header.vaultID
        keys = view.keys
        memoryKeys = try Set(view.manifest().formerMemoryKeys + [view.keys.memoryKey])
        positions = try KnownHistory(of: view)
    }

    /// Returns whether this copy includes all changes of a store. No process may write to that store during the call.
    fileprivate func inclusion(
        of store: any RecordStore, _ unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> Inclusion {
        let stated = store.server?.statedEnd
        do throws(LogError) { return try inclusion(ofIntact: store, &unlocker) } catch {
            guard error.code == .damaged, let stated else {
                throw error.isPassing ? error : LogError(.notACopy, store.path)
            }
            try store.server?.ignoreStatedEnd()
            return try inclusion(ofDamaged: store, stating: stated)
        }
    }

    /// Returns whether this copy includes all changes of a vault in a database whose log is incomplete or does not
    /// match its row. The copy must include all authentic records of the log. Unless the user accepts an older copy, it
    /// must also include the row's log position, or the log must be whole and reach that position's sequence number;
    /// and if the log's header is invalid, the log must not extend past the row's offset.
    private func inclusion(ofDamaged store: any RecordStore, stating stated: StatedEnd) throws(LogError) -> Inclusion {
        var end: LogPosition?
        var isWhole = false
        do throws(LogError) {
            // A database row may refer to an empty log, which has no header to authenticate.
            if try store.size() > 0 {
                if var view = try authentic(store) {
                    var reader = view.reader
                    if case .nothing = try view.catchUp(&reader) { isWhole = try view.end == store.size() }
                    end = view.head
                    let inclusion = inclusion(of: view)
                    guard inclusion == .included else { return inclusion }
                } else if stated.hasMore, !isOlderAccepted {
                    throw LogError(
                        .rolledBack,
                        "change \(positions.newest.sequence), and \(store.path) may have had later ones, because its "
                            + "header is missing or damaged, and there are bytes after the end stated in its row")
                }
            }
        } catch {
            guard error.isPassing || error.code == .rolledBack else { throw LogError(.notACopy, store.path) }
            throw error
        }
        if positions.includes(stated.position) == .included { return .included }
        if isWhole, let end, stated.offset > 0, stated.position.sequence <= end.sequence { return .included }
        guard isOlderAccepted else {
            throw LogError(
                .rolledBack,
                "change \(positions.newest.sequence), and \(store.path) may have had later ones, because its row "
                    + (stated.offset == 0 ? "is malformed" : "states change \(stated.position.sequence)"))
        }
        return .included
    }

    /// Authenticates a damaged store's header, and returns a view that starts at this header. Returns nil if the header
    /// is missing or damaged. In that case, only the database row identifies the vault.
    private func authentic(_ store: any RecordStore) throws(LogError) -> LogView? {
        guard let view = try unless(.damaged, HeaderImage(of: store).view(following: keys)) else { return nil }
        guard view.header.vaultID == vaultID else { throw LogError(.notACopy) }
        return view
    }

    private func inclusion(
        ofIntact store: any RecordStore, _ unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> Inclusion {
        // The vault ID is checked first, since the user must not be prompted for another vault's passphrase.
        guard try HeaderImage(of: store).mayBe(of: vaultID) else { throw LogError(.notACopy) }
        return try inclusion(of: LogView.whole(store, keys, orUnlockedBy: &unlocker))
    }

    private func inclusion(of view: LogView) -> Inclusion {
        // Log positions are not secret, so someone could add those of later records to a copy from before a rotation.
        // A match is therefore not enough: the store's data key must also be a current or former data key of the copy.
        memoryKeys.contains(view.keys.memoryKey) ? positions.includes(view.head) : .excluded
    }
}
