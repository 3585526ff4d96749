import LinuxSystem
import Sealing

/// The names that a person takes over although somebody who was shut out may have changed them.
package enum NamesTaken: Sendable {
    case some(Set<EntryName>)
    case all

    package static let none = NamesTaken.some([])

    /// Takes names as their bytes are: two that look the same are two.
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

/// Keeps out what somebody who was shut out may have written; Format.md, "Merging".
///
/// What another copy says counts if it is under this vault's data key and nobody is known to have been removed, if
/// somebody has signed it who is still a member, or if a person takes it over.
struct MergeGate {
    /// Whether the copy is under a data key that was given up.
    let isOfFormerKey: Bool
    /// Whether what the copy says of its history counts.
    let isBelieved: Bool
    let members: MemberList
    /// The changes of the members that come with the copy alone.
    let brought: Set<Authenticator>
    let taken: NamesTaken
    /// Signs what a person takes over; nil in a vault without members.
    let signer: StateSigner?

    /// The part of a copy's entry that counts.
    struct Admission {
        /// nil if nothing does.
        let entry: Entry?
        /// Whether that is all of it.
        var isWhole = true
        /// Whether states of it count since a person takes them over.
        var isTaken = false
    }

    /// Returns what counts of an entry of the copy. The states that this side has already stay.
    ///
    /// - Parameters:
    ///   - copied: the entry as it is in the copy.
    ///   - entry: the same, with this side's versions in place of those that are the same.
    func admitted(
        _ copied: Entry, as entry: Entry, knownAs old: Entry?, _ values: inout CopiedValues
    ) throws(LogError) -> Admission {
        // Once the last member was removed, nobody signs: the vault is as one that never had members.
        guard isOfFormerKey || !members.isEmpty && members.hasRemovals(otherThan: brought) else {
            return Admission(entry: entry)
        }
        var entry = entry
        let isTaken = taken.contains(entry.name)
        // What this side has forgotten or joined, it knows by itself.
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
        // A removal does not say when the name was set first.
        if let own = old?.content, own.current.nonce == former?.content?.current.nonce {
            former?.content?.created = own.created
        }
        return Admission(entry: former, isWhole: false)
    }

    /// Whether a member has signed a state: one of now, or, under this vault's data key, one whose removal comes only
    /// with the copy. Throws `damaged` if it was not signed by whom it names.
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

    /// Signs a state in the name of who takes it over.
    private func sign(
        _ entry: inout Entry, _ index: Int, _ state: SignedState, _ values: inout CopiedValues
    ) throws(LogError) {
        let authorship = try signer.map { (signer) throws(LogError) in try signer.sign(values.statement(of: state)) }
        if index == 0 { entry.authorship = authorship } else { entry.earlier[index - 1].authorship = authorship }
    }
}

extension SignedState {
    /// Whether it is the same state, by whomever it was signed.
    fileprivate func isSame(as other: SignedState) -> Bool {
        guard modified == other.modified else { return false }
        guard let content, let another = other.content else { return content == nil && other.content == nil }
        return content.current.nonce == another.current.nonce && content.current.kind == another.current.kind
            && content.expiry == another.expiry && content.attributes == another.attributes
    }
}
