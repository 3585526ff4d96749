import Sealing

/// The entries that two copies of a vault have for the same name. A merge has the same result in either direction.
///
/// For most entries, ``CommonPast`` shows whether the entry has changed since the copies diverged. Otherwise, the
/// entries' histories decide.
struct EntryPair {
    let own: Entry?
    let other: Entry
    /// Whether each copy has changed the entry since its changes were last merged into the other copy; nil if unknown.
    let hasOwnChanged: Bool?
    let hasOtherChanged: Bool?
    let limit: TimeLimit
    /// The rule that decides between two states with the same time. Nonces are not signed, so they must not decide if a
    /// person whose access was removed may have chosen them.
    var tie = Tie.byNonce

    enum Tie { case byNonce, own, other }

    enum Outcome {
        /// The merge leaves this vault's entry unchanged.
        case same
        case changed(Entry)
    }

    /// Whether both copies have changed the entry, each without having the other's change.
    var isConflict: Bool {
        guard let own, own.state != other.state, hasOwnChanged != false, hasOtherChanged != false else { return false }
        return !own.knows(other, hasChanged: hasOtherChanged, limit)
            && !other.knows(own, hasChanged: hasOwnChanged, limit)
    }

    /// Returns the later entry. Its history has the values of both entries, except those that either has forgotten.
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
        // If only the later entry has all values of both, or both have the same history, its order of values is kept.
        let isWhole = later.hasStates(of: former, limit)
        if !isWhole || later.states != former.states && former.hasStates(of: later, limit) {
            var seen: Set<Nonce> = Set(entry.content.map { [$0.current.nonce] } ?? [])
            // A restored version occurs more than once, with different times. Only its latest occurrence is kept.
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
        // An entry whose history contains the other's current value is later, regardless of the clocks. The order of a
        // history is not signed, so this rule applies only if both copies are trusted. Otherwise, a person whose access
        // was removed could make an old state appear later than the current one.
        if tie == .byNonce {
            let ownFollows = own.follows(other)
            let otherFollows = other.follows(own)
            if ownFollows != otherFollows { return otherFollows }
        }
        if own.modified == other.modified, own.state != other.state, tie != .byNonce { return tie == .other }
        // If two removals have the same time, the one whose history includes the other's is later.
        return isLater(other, than: own) || !isLater(own, than: other) && other.hasStates(of: own, limit)
    }

    /// Returns the merged entry with the attribute `key` added, if the entry lacks it and either copy has it. Returns
    /// nil if there is nothing to add or this vault has not changed the entry. Throws `invalid` if there is no room.
    func guarded(_ outcome: Outcome, by key: String?) throws(LogError) -> Entry? {
        guard let key, let own, hasOwnChanged != false else { return nil }
        var entry = own
        if case .changed(let merged) = outcome { entry = merged }
        guard let attributes = entry.content?.attributes, attributes.value(of: key) == nil else { return nil }
        let kept = try attributes.keeping(key, [own, other].compactMap(\.content?.attributes))
        entry.content?.attributes = kept
        return kept == attributes ? nil : entry
    }

    /// Returns this vault's current value, or else the other copy's, if it is not current in the merged `entry`.
    func superseded(by entry: Entry) -> StoredVersion? {
        [own?.content?.current, other.content?.current].compactMap(\.self).first {
            $0.nonce != entry.content?.current.nonce
        }
    }

    /// The nonces of both copies' versions, except versions that the other copy has forgotten.
    private var keptVersions: Set<Nonce> {
        let ofOwn = own?.states(notForgottenBy: other, hasChanged: hasOwnChanged, limit) ?? []
        let ofOther = other.states(notForgottenBy: own, hasChanged: hasOtherChanged, limit)
        return Set((ofOwn + ofOther).map(\.version.nonce))
    }

    private static func outcome(_ entry: Entry, for own: Entry) -> Outcome {
        var known = own
        // A difference only in the sequence number or the `joined` time does not count as a change.
        known.sequence = entry.sequence
        known.joined = entry.joined
        return known == entry ? .same : .changed(entry)
    }

    /// Returns whether the state of `entry` is later than that of `other`. The answer is the same in both copies.
    private func isLater(_ entry: Entry, than other: Entry) -> Bool {
        if entry.modified != other.modified { return limit.isLater(entry.modified, than: other.modified) }
        guard let left = entry.content else { return false }
        guard let right = other.content else { return true }
        if left.current.nonce != right.current.nonce {
            return EntryPair.isGreater(left.current.nonce, than: right.current.nonce)
        }
        // Both copies restored the same version at the same time, so the entries' other fields decide which is later.
        return right.encodedDetails.lexicographicallyPrecedes(left.encodedDetails)
    }

    /// Returns whether `version` is later than `other`. Even impossible times count, so that both copies agree.
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

    /// Returns the values that `other` has not forgotten: those set after its `forgotten` time, and earlier values that
    /// it still has. If `hasChanged` is true, the current value counts in any case, since `other` has never had it.
    fileprivate func states(notForgottenBy other: Entry?, hasChanged: Bool?, _ limit: TimeLimit) -> [EarlierVersion] {
        guard let other, let forgotten = other.forgotten else { return states }
        let isPresentKept = hasChanged == true || limit.isLater(modified, than: forgotten)
        return (isPresentKept ? present.map { [$0] } ?? [] : [])
            + earlier.filter { version in
                // If only one of the two times is impossible (too far in the future), the version counts as earlier.
                version.modified > forgotten && limit.isLater(version.modified, than: forgotten)
                    || other.has(version.version)
            }
    }

    /// Returns whether this entry has, or had, the current state of `other`. A removal leaves no version: if only
    /// `other` is removed, this entry must be no older than that and have the removed value, if `other` still has it.
    fileprivate func knows(_ other: Entry, hasChanged: Bool?, _ limit: TimeLimit) -> Bool {
        if hasChanged != true, let forgotten, !limit.isLater(other.modified, than: forgotten) { return true }
        guard let present = other.present else {
            guard let content else { return !limit.isLater(other.modified, than: modified) }
            // If the time of the removal in `other` is impossible, this entry counts as not having that removal.
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

    /// Returns whether this entry has, or had, the value of `state`, with the same time or a later one.
    private func hasState(_ state: EarlierVersion, _ limit: TimeLimit) -> Bool {
        states.contains { own in
            own.version.nonce == state.version.nonce && !limit.isLater(state.modified, than: own.modified)
        }
    }
}

extension Entry.Content {
    /// The entry's creation time, expiry and attributes, encoded.
    fileprivate var encodedDetails: [UInt8] {
        var writer = ByteWriter()
        writer.varint(created)
        writer.varint(expiry ?? 0)
        writer.attributes(attributes)
        return writer.bytes
    }
}
