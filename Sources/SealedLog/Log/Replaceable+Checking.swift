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
        switch try history.inclusion(of: store, &unlocker) {
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
    /// The memory subkeys of the data keys that the copy has, or once had.
    private let memoryKeys: Set<[UInt8]>
    private let positions: KnownHistory

    /// Reads and authenticates all records.
    init(of view: LogView) throws(LogError) {
        (vaultID, keys) = (view.header.vaultID, view.keys)
        memoryKeys = try Set(view.manifest().formerMemoryKeys + [view.keys.memoryKey])
        positions = try KnownHistory(of: view)
    }

    /// Returns whether all of another copy is in this one, while no process can write to it.
    fileprivate func inclusion(
        of store: any RecordStore, _ unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> Inclusion {
        do throws(LogError) {
            // Nobody is asked for the passphrase of another vault.
            guard try HeaderImage(of: store).header.get().vaultID == vaultID else { throw LogError(.notACopy) }
            let view = try LogView.settled(store, keys, orUnlockedBy: &unlocker)
            // Positions are no secret. A copy from before a rotation can claim those that came after it.
            return memoryKeys.contains(view.keys.memoryKey) ? positions.includes(view.head) : .excluded
        } catch {
            throw error.isPassing ? error : LogError(.notACopy, store.location)
        }
    }
}
