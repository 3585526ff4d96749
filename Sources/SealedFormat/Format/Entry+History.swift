// Limits on the number and age of an entry's earlier versions.

extension Entry {
    /// Whether the entry stays within the maximum entry size even if every offset has its longest encoding.
    private var fitsInPage: Bool { sizeWithoutOffsets <= Limits.entrySize - 16 - 8 * earlier.count }

    /// The entry in its previous state; nil if there is no earlier version.
    package var former: Entry? {
        guard let last = earlier.first else { return nil }
        let content = Content(
            created: min(content?.created ?? last.modified, last.modified), current: last.version, expiry: last.expiry,
            attributes: last.attributes)
        return Entry(
            name: name, modified: last.modified, content: content, earlier: Array(earlier.dropFirst()),
            authorship: last.authorship)
    }

    /// Sets `modified` to the time that ``TimeLimit/following(_:at:vaultFrom:)`` determines for a new state.
    package mutating func follow(at now: UInt64, vaultFrom began: () throws(LogError) -> UInt64) throws(LogError) {
        modified = try TimeLimit.following(modified, at: now, vaultFrom: began)
    }

    /// Throws `invalid` if the entry exceeds the maximum entry size.
    package func checkSize() throws(LogError) {
        guard fitsInPage else {
            throw LogError(.invalid, "the entry's attributes are longer than about \(Limits.entrySize) bytes")
        }
    }

    /// Drops the oldest earlier versions until the entry is small enough and has no more versions than allowed.
    package mutating func dropHistoryBeyondEntrySize() {
        earlier.removeSubrange(min(earlier.count, Limits.earlierVersionCount)...)
        while !fitsInPage, !earlier.isEmpty { earlier.removeLast() }
        if earlier.isEmpty { joined = nil }
    }

    /// Drops the earlier versions that exceed the limits on number or age.
    package mutating func dropHistory(beyond limits: KeptHistory, now: UInt64) {
        if earlier.count > Int(limits.versions) { earlier.removeSubrange(Int(limits.versions)...) }
        dropHistory(olderThan: limits, now: now)
    }

    /// Drops the earlier versions that were replaced longer ago than the limits allow.
    package mutating func dropHistory(olderThan limits: KeptHistory, now: UInt64) {
        let lifetime = limits.lifetime
        // The age of a version is measured from the time when the next newer version was set, or when a merge joined
        // the versions of two copies, whichever is later. A time in the future, set by a wrong clock, counts as recent.
        var replaced = modified
        let isJoined = joined.map { TimeLimit(at: now).isPossible($0) } ?? false
        for (index, version) in earlier.enumerated() {
            // A version cannot have been replaced before it was set, even if the recorded times say so.
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
    /// How long earlier versions are kept, in milliseconds.
    package var lifetime: UInt64 { versions == 0 ? 0 : UInt64(days) * 86_400_000 }
}

/// The latest time that a state may have; see Format.md, "Times of states". A later time is *impossible*: it was set by
/// a wrong clock, or by an attacker who wants a state to win every merge.
package struct TimeLimit: Hashable, Sendable {
    /// How far another clock may be ahead of this machine's clock, in milliseconds: one day.
    static let tolerance: UInt64 = 86_400_000

    private let latest: UInt64

    /// Creates the limit that applies at `now`, the current time according to a trusted clock.
    package init(at now: UInt64) { latest = now + min(TimeLimit.tolerance, .max - now) }

    /// Returns whether a time is at most one day later than the time for which this limit was created.
    package func isPossible(_ time: UInt64) -> Bool { time <= latest }

    /// Returns whether `time` counts as later than `other`. Impossible times count as earlier than possible times.
    package func isLater(_ time: UInt64, than other: UInt64) -> Bool {
        isPossible(time) == isPossible(other) ? time > other : isPossible(time)
    }

    package func latest(_ time: UInt64?, _ other: UInt64?) -> UInt64? {
        guard let time, let other else { return time ?? other }
        return isLater(time, than: other) ? time : other
    }

    /// Returns the time for a new state that replaces a former state.
    /// - Parameters:
    ///   - former: the time of the former state.
    ///   - now: the current time according to this machine's clock.
    ///   - began: returns the time of the vault's creation. It is called only if the result depends on that time.
    package static func following<Failure: Error>(
        _ former: UInt64, at now: UInt64, vaultFrom began: () throws(Failure) -> UInt64
    ) throws(Failure) -> UInt64 {
        // Clocks differ and may be set back, but the newer state must have the later time in every copy. If the former
        // time is already the maximum of `UInt64`, there is no later time.
        let later = max(now, former + (former < .max ? 1 : 0))
        // If the former time is impossible (too far in the future), the new state gets the current time. But if that is
        // before the vault's creation, the clock is wrong, and the new state gets a time after the former one.
        if TimeLimit(at: now).isPossible(former) { return later }
        return try now < began() ? later : now
    }
}
