import Sealing

/// Joins what two copies of a vault say of one name. The same comes out on both sides.
struct EntryPair {
    let own: Entry?
    let other: Entry

    /// Whether each side has changed the name without knowing what the other one did.
    var isConflict: Bool {
        guard let own, own.state != other.state else { return false }
        return !own.knows(other) && !other.knows(own)
    }

    /// The later state counts, and all values of both sides are in its history; nil if that is what this side has.
    var merged: Entry? {
        guard let own else { return other }
        if own == other { return nil }
        // Names that were removed at one time may have different histories.
        let isTie = !EntryPair.isLater(own, than: other)
        let isOther = EntryPair.isLater(other, than: own) || isTie && other.hasStates(of: own)
        let (later, former) = isOther ? (other, own) : (own, other)
        var entry = later
        if let left = own.content?.created, let right = other.content?.created {
            entry.content?.created = min(left, right)
        }
        // If only one side has changed, values that it set at one time stay in their order.
        let isWhole = later.hasStates(of: former)
        if !isWhole || later.states != former.states && former.hasStates(of: later) {
            var seen: Set<Nonce> = Set(entry.content.map { [$0.current.nonce] } ?? [])
            // A version that was restored has several times: the last one counts, on whatever side it was.
            let states = (own.states + other.states).sorted(by: EntryPair.isLater)
            entry.earlier = states.filter { seen.insert($0.version.nonce).inserted }
        }
        entry.dropHistoryBeyondEntrySize()
        return entry == own ? nil : entry
    }

    /// Equal times need an order that is the same on both sides.
    private static func isLater(_ entry: Entry, than other: Entry) -> Bool {
        if entry.modified != other.modified { return entry.modified > other.modified }
        guard let left = entry.content else { return false }
        guard let right = other.content else { return true }
        if left.current.nonce != right.current.nonce { return isGreater(left.current.nonce, than: right.current.nonce) }
        // One version that both have restored.
        return right.encodedDetails.lexicographicallyPrecedes(left.encodedDetails)
    }

    private static func isLater(_ version: EarlierVersion, than other: EarlierVersion) -> Bool {
        if version.modified != other.modified { return version.modified > other.modified }
        return isGreater(version.version.nonce, than: other.version.nonce)
    }

    private static func isGreater(_ nonce: Nonce, than other: Nonce) -> Bool {
        nonce.withUnsafeBytes { nonce in other.withUnsafeBytes { nonce.order(to: $0) > 0 } }
    }
}

extension Entry {
    /// When it was changed last, and to what.
    fileprivate var state: [AnyHashable] { [modified, content?.current.nonce] }

    /// The values that the name has had, with the present one.
    var states: [EarlierVersion] {
        (content.map { [EarlierVersion(modified: modified, version: $0.current)] } ?? []) + earlier
    }

    /// Whether the present state of another entry was here before. A removal leaves no version: it was if a value has been
    /// created since, and the one that was removed is in its history.
    fileprivate func knows(_ other: Entry) -> Bool {
        guard let current = other.content?.current else {
            guard let content else { return other.modified <= modified }
            return other.modified <= content.created && other.earlier.first.map { has($0.version) } ?? true
        }
        return hasState(EarlierVersion(modified: other.modified, version: current))
    }

    fileprivate func hasStates(of other: Entry) -> Bool { other.states.allSatisfy(hasState) }

    /// Whether a version was the value at a time, or later again.
    private func hasState(_ state: EarlierVersion) -> Bool {
        states.contains { $0.version.nonce == state.version.nonce && $0.modified >= state.modified }
    }
}

extension Entry.Content {
    /// What belongs to the entry and not to its value.
    fileprivate var encodedDetails: [UInt8] {
        var writer = ByteWriter()
        writer.varint(expiry ?? 0)
        writer.attributes(attributes)
        return writer.bytes
    }
}
