// Limits on the number and age of an entry's earlier versions.

extension Entry {
    /// Whether the entry fits in a page even if all of its offsets have the maximum length.
    private var fitsInPage: Bool { sizeWithoutOffsets <= Limits.entrySize - 16 - 8 * earlier.count }

    /// The entry in the state before the current one; nil if the entry has no earlier version.
    var former: Entry? {
        guard let last = earlier.first else { return nil }
        let content = Content(
            created: min(content?.created ?? last.modified, last.modified), current: last.version, expiry: last.expiry,
            attributes: last.attributes)
        return Entry(
            name: name, modified: last.modified, content: content, earlier: Array(earlier.dropFirst()),
            authorship: last.authorship)
    }

    /// Sets `modified` to the time of a state that follows the current one, as ``TimeLimit`` determines it.
    mutating func follow(at now: UInt64, vaultFrom began: () throws(LogError) -> UInt64) throws(LogError) {
        modified = try TimeLimit.following(modified, at: now, vaultFrom: began)
    }

    /// Throws `invalid` if the entry is too long.
    func checkSize() throws(LogError) {
        guard fitsInPage else {
            throw LogError(.invalid, "the attributes of an entry may take at most about \(Limits.entrySize) bytes")
        }
    }

    /// Drops the oldest earlier versions until the entry fits in a page and has at most the maximum number of them.
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

    /// Drops the earlier versions that were replaced longer ago than the limits allow.
    mutating func dropHistory(olderThan limits: KeptHistory, now: UInt64) {
        let lifetime = limits.lifetime
        // A version counts as replaced when the next newer one was set, or, if that is later, when a merge joined the
        // versions of two copies. A time in the future, set by a wrong clock, counts as recent.
        var replaced = modified
        let isJoined = joined.map { TimeLimit(at: now).isPossible($0) } ?? false
        for (index, version) in earlier.enumerated() {
            // A version cannot have been replaced before it was set, whatever the replacing machine's clock showed.
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
