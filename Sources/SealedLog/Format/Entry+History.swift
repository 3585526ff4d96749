// Limits on the number and age of an entry's earlier versions.

extension Entry {
    /// Whether the entry fits in a page, whatever its offsets will be.
    private var fitsInPage: Bool { sizeWithoutOffsets <= Limits.entrySize - 16 - 8 * earlier.count }

    /// The entry in its state before the present one; nil if no earlier version is kept.
    var former: Entry? {
        guard let last = earlier.first else { return nil }
        let content = Content(
            created: min(content?.created ?? last.modified, last.modified), current: last.version, expiry: last.expiry,
            attributes: last.attributes)
        return Entry(
            name: name, modified: last.modified, content: content, earlier: Array(earlier.dropFirst()),
            authorship: last.authorship)
    }

    /// Sets the time of a state that follows the current one.
    mutating func follow(at now: UInt64, vaultFrom began: () throws(LogError) -> UInt64) throws(LogError) {
        modified = try TimeLimit.following(modified, at: now, vaultFrom: began)
    }

    /// Throws `invalid` if the entry is too long.
    func checkSize() throws(LogError) {
        guard fitsInPage else {
            throw LogError(.invalid, "the attributes of an entry may take at most about \(Limits.entrySize) bytes")
        }
    }

    /// Drops the oldest earlier versions until the entry fits.
    mutating func dropHistoryBeyondEntrySize() {
        earlier.removeSubrange(min(earlier.count, Limits.earlierVersionCount)...)
        while !fitsInPage, !earlier.isEmpty { earlier.removeLast() }
        if earlier.isEmpty { joined = nil }
    }

    /// Drops the earlier versions that exceed the limits on number or age.
    mutating func dropHistory(beyond limits: KeptHistory, now: UInt64) {
        if earlier.count > Int(limits.versions) { earlier.removeSubrange(Int(limits.versions)...) }
        dropHistory(olderThan: limits, now: now)
    }

    /// Drops the earlier versions that were replaced too long ago.
    mutating func dropHistory(olderThan limits: KeptHistory, now: UInt64) {
        let lifetime = limits.lifetime
        // A version was replaced when the next newer one was set. If it came from another copy, it counts as replaced
        // at that merge. A time in the future, from a wrong clock, counts as recent.
        var replaced = modified
        let isJoined = joined.map { TimeLimit(at: now).isPossible($0) } ?? false
        for (index, version) in earlier.enumerated() {
            // A version cannot be replaced before it was set, whatever the clock of the replacing machine says.
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
    /// The time for which earlier versions are kept, in milliseconds.
    var lifetime: UInt64 { versions == 0 ? 0 : UInt64(days) * 86_400_000 }
}
