// How many earlier versions an entry keeps, and for how long.

extension Entry {
    /// Whether it is not too long, whatever its offsets will be.
    private var fitsInPage: Bool { sizeWithoutOffsets <= Limits.entrySize - 16 - 8 * earlier.count }

    /// Throws `invalid` for an entry that is too long.
    func checkSize() throws(LogError) {
        guard fitsInPage else {
            throw LogError(.invalid, "the attributes of one entry may take about \(Limits.entrySize) bytes")
        }
    }

    /// Drops the oldest earlier versions for which there is no room.
    mutating func dropHistoryBeyondEntrySize() {
        earlier.removeSubrange(min(earlier.count, Limits.earlierVersionCount)...)
        while !fitsInPage, !earlier.isEmpty { earlier.removeLast() }
    }

    /// Drops the earlier versions that are too many, or that were replaced too long ago.
    mutating func dropHistory(beyond limits: KeptHistory, now: UInt64) {
        if earlier.count > Int(limits.versions) { earlier.removeSubrange(Int(limits.versions)...) }
        dropHistory(olderThan: limits, now: now)
    }

    /// Drops the earlier versions that were replaced too long ago.
    mutating func dropHistory(olderThan limits: KeptHistory, now: UInt64) {
        let lifetime = UInt64(limits.days) * 86_400_000
        // Each was replaced when the next newer one was set. A time in the future, from a wrong clock, counts as young.
        var replaced = modified
        for (index, version) in earlier.enumerated() {
            if replaced < now, now - replaced >= lifetime {
                earlier.removeSubrange(index...)
                return
            }
            replaced = version.modified
        }
    }
}
