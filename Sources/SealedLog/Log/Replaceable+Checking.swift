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
    ///   if it is another vault, or cannot be opened.
    init(
        _ store: any RecordStore, copiedWith history: CopiedHistory,
        _ unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) {
        self.init(contained: store)
        // A program may have created an empty file to reserve the name.
        if try store.size() == 0 { return }
        switch history.positions.includes(try history.head(of: store, &unlocker)) {
        case .included: return
        case .excluded: throw LogError(.notContained, store.location)
        case .unknown: throw LogError(.notCompared, store.location)
        }
    }
}

/// What the log of a copy includes.
struct CopiedHistory {
    private let vaultID: [UInt8]
    private let keys: KeyRing
    fileprivate let positions: KnownHistory

    /// Reads and authenticates all records.
    init(of view: LogView) throws(LogError) {
        (vaultID, keys) = (view.header.vaultID, view.keys)
        positions = try KnownHistory(of: view)
    }

    /// Returns the newest position of another copy, while no process can write to it.
    fileprivate func head(
        of store: any RecordStore, _ unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> LogPosition {
        do throws(LogError) {
            // Nobody is asked for the passphrase of another vault.
            guard try HeaderImage(of: store).header.get().vaultID == vaultID else { throw LogError(.notACopy) }
            return try LogView.settled(store, keys, orUnlockedBy: &unlocker).head
        } catch {
            throw error.isPassing ? error : LogError(.notACopy, store.location)
        }
    }
}
