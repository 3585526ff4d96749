import LinuxSystem
import Sealing

/// The names that the user takes over although a person whose access was removed may have changed them.
package enum NamesTaken: Sendable {
    case some(Set<EntryName>)
    case all

    package static let none = NamesTaken.some([])

    /// Creates a selection of names. Names are compared by their bytes, so names that only look the same are different.
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

/// A filter that refuses states that a person whose access was removed may have written; Format.md, "Merging".
///
/// A state of another copy counts if a current member has signed the state or the user takes it over. All states count
/// if the copy has this vault's data key and no removal of a member is known.
struct MergeGate {
    /// Whether the copy has a data key that this vault has replaced or never had.
    let isOfFormerKey: Bool
    let isBelieved: Bool
    let members: MemberList
    /// The member changes that only the copy has.
    let brought: Set<Authenticator>
    let taken: NamesTaken
    /// The signer of states that the user takes over; nil in a vault without members.
    let signer: StateSigner?

    struct Admission {
        /// The part of the entry that the gate admits; nil if no part counts.
        let entry: Entry?
        var isWhole = true
        /// Whether any of the entry's states counts only because the user takes it over.
        var isTaken = false
    }

    /// Returns the part of the copy's entry that counts. States that this vault already has always count.
    ///
    /// - Parameters:
    ///   - copied: the entry as it is in the copy.
    ///   - entry: the same entry, in which this vault's versions replace equal versions of the copy.
    func admitted(
        _ copied: Entry, as entry: Entry, knownAs old: Entry?, _ values: inout CopiedValues
    ) throws(LogError) -> Admission {
        // If no members are left, changes are not signed, so everything counts, as in a vault that never had members.
        guard isOfFormerKey || !members.isEmpty && members.hasRemovals(otherThan: brought) else {
            return Admission(entry: entry)
        }
        var entry = entry
        let isTaken = taken.contains(entry.name)
        // The copy's `forgotten` and `joined` are not signed, so only this vault's count.
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
        // A removal does not store the time when the name was created, so this vault's entry provides it.
        if let own = old?.content, own.current.nonce == former?.content?.current.nonce {
            former?.content?.created = own.created
        }
        return Admission(entry: former, isWhole: false)
    }

    /// Returns whether a member has signed a state. If the copy has a former data key, only current members count.
    /// Otherwise, members whom only the copy has removed count as well. Throws `damaged` if the signature is invalid.
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
    /// Returns whether two states are equal, regardless of the devices that signed them.
    fileprivate func isSame(as other: SignedState) -> Bool {
        guard modified == other.modified else { return false }
        guard let content, let another = other.content else { return content == nil && other.content == nil }
        return content.current.nonce == another.current.nonce && content.current.kind == another.current.kind
            && content.expiry == another.expiry && content.attributes == another.attributes
    }
}
