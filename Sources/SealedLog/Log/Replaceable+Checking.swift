// The two ways to know that another store has all that is in one.

extension Replaceable {
    /// The store of a log that a compaction has copied up to its newest record.
    init(compacted view: LogView) { self.init(contained: view.store) }

    /// A store that was found where a copy is to be.
    ///
    /// - Parameters:
    ///   - history: that of the copy.
    ///   - unlocker: is asked if the copy's keys do not open the store.
    /// - Throws: `notContained` if it has changes that the copy lacks; `notCompared` if nothing tells that; `notACopy`
    ///   if it is another vault, or cannot be opened; `rolledBack` if it may have had changes that the copy lacks.
    init(
        _ store: any RecordStore, copiedWith history: CopiedHistory,
        _ unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) {
        self.init(contained: store)
        // A program may have created an empty file to reserve the name.
        if store.server == nil, try store.size() == 0 { return }
        switch try history.inclusion(of: store, &unlocker) {
        case .included: return
        case .excluded: throw LogError(.notContained, store.path)
        case .unknown: throw LogError(.notCompared, store.path)
        }
    }
}

/// What the log of a copy includes.
struct CopiedHistory {
    private let vaultID: [UInt8]
    private let keys: KeyRing
    /// The memory subkeys of the data keys that the copy has, or once had.
    private let memoryKeys: Set<[UInt8]>
    private let positions: KnownHistory
    /// Whether what it replaces may say that there were changes which neither has.
    private let isOlderAccepted: Bool

    /// Reads and authenticates all records.
    init(of view: LogView, isOlderAccepted: Bool) throws(LogError) {
        self.isOlderAccepted = isOlderAccepted
        (vaultID, keys) = (view.header.vaultID, view.keys)
        memoryKeys = try Set(view.manifest().formerMemoryKeys + [view.keys.memoryKey])
        positions = try KnownHistory(of: view)
    }

    /// Returns whether all of another copy is in this one, while no process can write to it.
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

    /// Does the same for a database whose row does not fit the log, or lacks some of it. All that is authentic of the
    /// log has to be in the copy, and what the row says that it ended with, too. Without a header, nothing is: then
    /// nothing may be behind that end.
    private func inclusion(
        ofDamaged store: any RecordStore, stating stated: StatedEnd
    ) throws(LogError) -> Inclusion {
        var end: LogPosition?
        var isWhole = false
        do throws(LogError) {
            // The row may lead to nothing at all.
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
                        "change \(positions.newest.sequence), and \(store.path) may have had later ones: its "
                            + "header is missing or damaged, and more follows the end that its row names")
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
                "change \(positions.newest.sequence), and \(store.path) may have had later ones: "
                    + (stated.offset == 0 ? "its row is malformed" : "its row names change \(stated.position.sequence)")
            )
        }
        return .included
    }

    /// Opens the header of a damaged store; nil if it is missing or damaged, so that nothing but the row tells which
    /// vault it is.
    private func authentic(_ store: any RecordStore) throws(LogError) -> LogView? {
        do throws(LogError) {
            let view = try HeaderImage(of: store).view(following: keys)
            guard view.header.vaultID == vaultID else { throw LogError(.notACopy) }
            return view
        } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
    }

    private func inclusion(
        ofIntact store: any RecordStore, _ unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> Inclusion {
        // Nobody is asked for the passphrase of another vault.
        guard try HeaderImage(of: store).mayBe(of: vaultID) else { throw LogError(.notACopy) }
        return try inclusion(of: LogView.whole(store, keys, orUnlockedBy: &unlocker))
    }

    private func inclusion(of view: LogView) -> Inclusion {
        // Positions are no secret. A copy from before a rotation can claim those that came after it.
        memoryKeys.contains(view.keys.memoryKey) ? positions.includes(view.head) : .excluded
    }
}
