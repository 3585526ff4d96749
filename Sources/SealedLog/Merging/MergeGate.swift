import LinuxSystem
import Sealing

/// The names whose changes the user accepts, even if a person whose access was removed may have made them.
package enum NamesTaken: Sendable {
    case some(Set<EntryName>)
    case all

    package static let none = NamesTaken.some([])

    /// Creates a selection of names. Names are compared bytewise, so names that merely look the same are different.
    package init(_ names: [String]) { self = .some(Set(names.compactMap { EntryName($0) })) }

    var isNone: Bool { if case .some(let names) = self { names.isEmpty } else { false } }
    var isAll: Bool { if case .all = self { true } else { false } }

    func contains(_ name: EntryName) -> Bool {
        switch self {
        case .some(let names): names.contains(name)
        case .all: true
        }
    }
}

/// A filter that rejects states that a person whose access was removed may have written. See Format.md, "Merging".
///
/// A state of another copy is admitted if a member has signed it or the user accepts it. If ``isOfFormerKey`` is false,
/// all states are admitted when there are no members, or when ``brought`` contains every removal of a member.
struct MergeGate {
    /// Whether the copy has a data key that this vault has replaced or never had.
    let isOfFormerKey: Bool
    let isBelieved: Bool
    let members: MemberList
    /// The member changes that only the copy has, or all of the copy's member changes if its data key is newer.
    let brought: Set<Authenticator>
    let taken: NamesTaken
    /// The signer for the states that the user accepts; nil if the vault has no members.
    let signer: StateSigner?

    struct Admission {
        /// The part of the entry that ``MergeGate`` admits; nil if it admits nothing.
        let entry: Entry?
        var isWhole = true
        /// Whether any of the entry's states is admitted only because the user accepts it.
        var isTaken = false
    }

    /// Returns the part of the copy's entry that is admitted. States that this vault already has are always admitted.
    ///
    /// - Parameters:
    ///   - copied: the entry as stored in the copy.
    ///   - entry: the same entry, but with this vault's versions instead of equal versions from the copy.
    func admitted(
        _ copied: Entry, as entry: Entry, knownAs old: Entry?, _ values: inout CopiedValues
    ) throws(LogError) -> Admission {
        // Without (remaining) members, nothing is signed. Only a copy with a replaced or unknown data key is checked.
        guard isOfFormerKey || !members.isEmpty && members.hasRemovals(otherThan: brought) else {
            return Admission(entry: entry)
        }
        var entry = entry
        let isTaken = taken.contains(entry.name)
        // The copy's `forgotten` and `joined` are not signed, so only this vault's are used.
        if !isBelieved, !isTaken { entry.disbelieve() }
        let known = old?.signedStates ?? []
        var doubtful: [Int] = []
        for (index, states) in zip(entry.signedStates, copied.signedStates).enumerated() {
            if known.contains(where: states.0.isSame) { continue }
            if try !isVouchedFor(states.1, &values) { doubtful.append(index) }
        }
        if doubtful.isEmpty { return Admission(entry: entry) }
        if isTaken {
            for index in doubtful { try sign(&entry, index, copied.signedStates[index], &values) }
            return Admission(entry: entry, isTaken: true)
        }
        for index in doubtful.reversed() where index > 0 { entry.earlier.remove(at: index - 1) }
        guard doubtful.first == 0 else { return Admission(entry: entry, isWhole: false) }
        var former = entry.former
        // A removal does not record when the removed value was created, so that time is copied from this vault's entry.
        if let own = old?.content, own.current.nonce == former?.content?.current.nonce {
            former?.content?.created = own.created
        }
        return Admission(entry: former, isWhole: false)
    }

    /// Returns whether a member has signed a state. If the copy has a former data key, the signer must be a current
    /// member; otherwise, one whom only the copy has removed also counts. Throws `damaged` if the signature is invalid.
    private func isVouchedFor(_ state: SignedState, _ values: inout CopiedValues) throws(LogError) -> Bool {
        guard let authorship = state.authorship else { return false }
        let author = authorship.author
        let isAdmitted =
            isOfFormerKey
            ? members.isMember(author)
            : members.wasAdded(author) && !members.wasRemoved(author, otherThanBy: brought)
        guard isAdmitted else { return false }
        _ = try members.author(of: authorship, for: values.statement(of: state))
        return true
    }

    private func sign(
        _ entry: inout Entry, _ index: Int, _ state: SignedState, _ values: inout CopiedValues
    ) throws(LogError) {
        let authorship = try signer.map { (signer) throws(LogError) in try signer.sign(values.statement(of: state)) }
        if index == 0 { entry.authorship = authorship } else { entry.earlier[index - 1].authorship = authorship }
    }
}

extension SignedState {
    /// Returns whether two states are equal, regardless of which devices signed them.
    fileprivate func isSame(as other: SignedState) -> Bool {
        guard modified == other.modified else { return false }
        guard let content, let another = other.content else { return content == nil && other.content == nil }
        return content.current.nonce == another.current.nonce && content.current.kind == another.current.kind
            && content.expiry == another.expiry && content.attributes == another.attributes
    }
}
