// How many earlier versions an entry keeps, and for how long.

extension Entry {
    /// Whether it is not too long, whatever its offsets will be.
    private var fitsInPage: Bool { sizeWithoutOffsets <= Limits.entrySize - 16 - 8 * earlier.count }

    /// The entry as it was before its present state; nil if nothing is kept of that.
    var former: Entry? {
        guard let last = earlier.first else { return nil }
        let content = Content(
            created: min(content?.created ?? last.modified, last.modified), current: last.version, expiry: last.expiry,
            attributes: last.attributes)
        return Entry(
            name: name, modified: last.modified, content: content, earlier: Array(earlier.dropFirst()),
            authorship: last.authorship)
    }

    /// Takes the time of a state that follows the one that it had.
    mutating func follow(at now: UInt64, vaultFrom began: () throws(LogError) -> UInt64) throws(LogError) {
        modified = try TimeLimit.following(modified, at: now, vaultFrom: began)
    }

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
        if earlier.isEmpty { joined = nil }
    }

    /// Drops the earlier versions that are too many, or that were replaced too long ago.
    mutating func dropHistory(beyond limits: KeptHistory, now: UInt64) {
        if earlier.count > Int(limits.versions) { earlier.removeSubrange(Int(limits.versions)...) }
        dropHistory(olderThan: limits, now: now)
    }

    /// Drops the earlier versions that were replaced too long ago.
    mutating func dropHistory(olderThan limits: KeptHistory, now: UInt64) {
        let lifetime = limits.lifetime
        // Each was replaced when the next newer one was set, or counts as replaced when it came from another copy. A
        // time in the future, from a wrong clock, counts as young.
        var replaced = modified
        let isJoined = joined.map { TimeLimit(at: now).isPossible($0) } ?? false
        for (index, version) in earlier.enumerated() {
            // A state is set before it is replaced, whatever the clock of that says.
            let since = max(replaced, isJoined ? joined ?? 0 : 0, version.modified)
            if since < now, now - since >= lifetime {
                earlier.removeSubrange(index...)
                break
            }
            replaced = version.modified
        }
        if earlier.isEmpty { joined = nil }
    }
}

extension KeptHistory {
    /// For how many milliseconds earlier versions are kept.
    var lifetime: UInt64 { versions == 0 ? 0 : UInt64(days) * 86_400_000 }
}
