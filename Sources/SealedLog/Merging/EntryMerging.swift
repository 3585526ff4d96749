import Sealing

/// The entries that two copies of a vault have for the same name. Both directions of a merge have the same result.
///
/// For most entries, ``CommonPast`` shows whether the entry has changed since the copies diverged. For the rest, the
/// entries' histories decide.
struct EntryPair {
    let own: Entry?
    let other: Entry
    /// Whether each copy has changed the entry since the other copy took over its state; nil if this is unknown.
    let hasOwnChanged: Bool?
    let hasOtherChanged: Bool?
    let limit: TimeLimit
    /// The rule that decides between two states with the same time. Nonces are not signed. Therefore, they must not
    /// decide if a person whose access was removed may have chosen them.
    var tie = Tie.byNonce

    enum Tie { case byNonce, own, other }

    enum Outcome {
        /// This vault's entry is already the result of the merge.
        case same
        case changed(Entry)
    }

    /// Whether both copies have changed the entry, each without knowledge of the other copy's change.
    var isConflict: Bool {
        guard let own, own.state != other.state, hasOwnChanged != false, hasOtherChanged != false else { return false }
        return !own.knows(other, hasChanged: hasOtherChanged, limit)
            && !other.knows(own, hasChanged: hasOwnChanged, limit)
    }

    /// Returns the later state, with a history of both copies' values except those that either copy has forgotten.
    func merged(at now: UInt64) -> Outcome {
        // If only this vault has changed the entry, values that this vault has dropped stay dropped.
        if hasOtherChanged == false { return .same }
        guard let own else { return .changed(other) }
        if hasOwnChanged == false { return EntryPair.outcome(other, for: own) }
        let isOther = isOtherLater(than: own)
        let later = isOther ? other : own
        let former = isOther ? own : other
        var entry = later
        entry.forgotten = limit.latest(own.forgotten, other.forgotten)
        entry.joined = limit.latest(own.joined, other.joined)
        // If only the later entry has new values, its order of values is kept, even if several have the same time.
        let isWhole = later.hasStates(of: former, limit)
        if !isWhole || later.states != former.states && former.hasStates(of: later, limit) {
            var seen: Set<Nonce> = Set(entry.content.map { [$0.current.nonce] } ?? [])
            // A version that was restored has several timestamps. The latest one counts, whichever copy it comes from.
            entry.earlier = (own.states + other.states).sorted(by: EntryPair.isLater)
                .filter { seen.insert($0.version.nonce).inserted }
            if entry.earlier.map(\.version) != later.earlier.map(\.version) { entry.joined = now }
        }
        let kept = keptVersions
        entry.earlier.removeAll { !kept.contains($0.version.nonce) }
        entry.dropHistoryBeyondEntrySize()
        return EntryPair.outcome(entry, for: own)
    }

    private func isOtherLater(than own: Entry) -> Bool {
        // If one state is based on the other, it is later, whatever the clocks showed. This order is not signed, so it
        // counts only if both histories are believed. Otherwise, a person whose access was removed could put an old
        // state on top of the current state.
        if tie == .byNonce {
            let ownFollows = own.follows(other)
            let otherFollows = other.follows(own)
            if ownFollows != otherFollows { return otherFollows }
        }
        if own.modified == other.modified, own.state != other.state, tie != .byNonce { return tie == .other }
        // Two removals at the same time may have different histories. One that includes the other's counts as later.
        return isLater(other, than: own) || !isLater(own, than: other) && other.hasStates(of: own, limit)
    }

    /// Returns the merged entry, with the attribute `key` added from either copy. Returns nil if nothing has to be
    /// added or this vault has not changed the entry. Throws `invalid` if the attribute does not fit.
    func guarded(_ outcome: Outcome, by key: String?) throws(LogError) -> Entry? {
        guard let key, let own, hasOwnChanged != false else { return nil }
        var entry = own
        if case .changed(let merged) = outcome { entry = merged }
        guard let attributes = entry.content?.attributes, attributes.value(of: key) == nil else { return nil }
        let kept = try attributes.keeping(key, [own, other].compactMap(\.content?.attributes))
        entry.content?.attributes = kept
        return kept == attributes ? nil : entry
    }

    /// Returns the first of the two entries' current values that `entry` replaces; nil if `entry` replaces neither.
    func superseded(by entry: Entry) -> StoredVersion? {
        [own?.content?.current, other.content?.current].compactMap(\.self).first {
            $0.nonce != entry.content?.current.nonce
        }
    }

    /// The versions of each copy, except those that the other copy has forgotten on request.
    private var keptVersions: Set<Nonce> {
        let ofOwn = own?.states(notForgottenBy: other, hasChanged: hasOwnChanged, limit) ?? []
        let ofOther = other.states(notForgottenBy: own, hasChanged: hasOtherChanged, limit)
        return Set((ofOwn + ofOther).map(\.version.nonce))
    }

    private static func outcome(_ entry: Entry, for own: Entry) -> Outcome {
        var known = own
        // An entry's sequence number and `joined` time are not part of its state.
        known.sequence = entry.sequence
        known.joined = entry.joined
        return known == entry ? .same : .changed(entry)
    }

    /// Returns whether the state of `entry` is later than that of `other`. Both copies get the same order.
    private func isLater(_ entry: Entry, than other: Entry) -> Bool {
        if entry.modified != other.modified { return limit.isLater(entry.modified, than: other.modified) }
        guard let left = entry.content else { return false }
        guard let right = other.content else { return true }
        if left.current.nonce != right.current.nonce {
            return EntryPair.isGreater(left.current.nonce, than: right.current.nonce)
        }
        // Both copies have restored the same version, so the entries' other fields decide.
        return right.encodedDetails.lexicographicallyPrecedes(left.encodedDetails)
    }

    /// Returns whether `version` is later than `other`. Impossible times count too, because the copies agree on them.
    private static func isLater(_ version: EarlierVersion, than other: EarlierVersion) -> Bool {
        if version.modified != other.modified { return version.modified > other.modified }
        return isGreater(version.version.nonce, than: other.version.nonce)
    }

    private static func isGreater(_ nonce: Nonce, than other: Nonce) -> Bool {
        nonce.withUnsafeBytes { nonce in other.withUnsafeBytes { nonce.order(to: $0) > 0 } }
    }
}

extension Entry {
    fileprivate var state: [AnyHashable] { [modified, content?.current.nonce] }

    /// The values that the entry has had, including the current value.
    var states: [EarlierVersion] { (present.map { [$0] } ?? []) + earlier }

    private var present: EarlierVersion? {
        content.map {
            EarlierVersion(
                modified: modified, version: $0.current, expiry: $0.expiry, attributes: $0.attributes,
                authorship: authorship)
        }
    }

    /// Returns the values that the other copy has not forgotten on request. They were set after the request, or the
    /// other copy still has them. The current value also counts if the other copy is known never to have had it.
    fileprivate func states(notForgottenBy other: Entry?, hasChanged: Bool?, _ limit: TimeLimit) -> [EarlierVersion] {
        guard let other, let forgotten = other.forgotten else { return states }
        let isPresentKept = hasChanged == true || limit.isLater(modified, than: forgotten)
        return (isPresentKept ? present.map { [$0] } ?? [] : [])
            + earlier.filter { version in
                // If one of the two times is impossible, their order is unknown, and the version counts as earlier.
                version.modified > forgotten && limit.isLater(version.modified, than: forgotten)
                    || other.has(version.version)
            }
    }

    /// Returns whether this entry was once in the current state of `other`. A removal leaves no version. It counts as
    /// included if this entry's current value was created later and this entry's history has the removed value.
    fileprivate func knows(_ other: Entry, hasChanged: Bool?, _ limit: TimeLimit) -> Bool {
        if hasChanged != true, let forgotten, !limit.isLater(other.modified, than: forgotten) { return true }
        guard let present = other.present else {
            guard let content else { return !limit.isLater(other.modified, than: modified) }
            // A removal with an impossible time does not count as included.
            return limit.isPossible(other.modified) && !limit.isLater(other.modified, than: content.created)
                && other.earlier.first.map { has($0.version) } ?? true
        }
        return hasState(present, limit)
    }

    fileprivate func follows(_ other: Entry) -> Bool {
        guard let present = other.present else { return false }
        return earlier.contains { $0.version.nonce == present.version.nonce && $0.modified == present.modified }
    }

    fileprivate func hasStates(of other: Entry, _ limit: TimeLimit) -> Bool {
        other.states.allSatisfy { hasState($0, limit) }
    }

    /// Returns whether this entry had the value of `state` at that state's time or later.
    private func hasState(_ state: EarlierVersion, _ limit: TimeLimit) -> Bool {
        states.contains { own in
            own.version.nonce == state.version.nonce && !limit.isLater(state.modified, than: own.modified)
        }
    }
}

extension Entry.Content {
    /// The encoded fields that belong to the entry rather than to its value.
    fileprivate var encodedDetails: [UInt8] {
        var writer = ByteWriter()
        writer.varint(created)
        writer.varint(expiry ?? 0)
        writer.attributes(attributes)
        return writer.bytes
    }
}
