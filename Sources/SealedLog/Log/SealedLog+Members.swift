import LinuxSystem
package import Sealing

extension SealedLog {
    /// The list of the vault's members. `origin` is the authenticator of the header of the file that contains the list.
    struct Membership: Sendable {
        let origin: Authenticator
        let list: MemberList
    }

    /// Returns the vault's members. Only members may sign changes.
    ///
    /// - Throws: `diverged` if the list lacks a removal that this machine has seen; any read error.
    package func members() throws(LogError) -> MemberList {
        while true {
            // Refresh the view first: the member list of a replaced file may be older than the one last seen here.
            try read(isSure: true) { (_) throws(LogError) in }
            if let members = try currentMembers() { return members }
            try reopen()
        }
    }

    /// Returns the key with which this machine signs; nil if the vault has no members.
    ///
    /// - Throws: `notMember`; `conflict` if the file was replaced during the call; any error from ``members()`` or
    ///   `deviceKey`.
    func signingKey() throws(LogError) -> DeviceKey? {
        guard let members = try currentMembers() else { throw LogError(.conflict) }
        return try signingKey(among: members)
    }

    /// Returns the key with which this machine signs; nil if `members` is empty. Throws `notMember`, or any error from
    /// the options' `deviceKey`.
    func signingKey(among members: MemberList) throws(LogError) -> DeviceKey? {
        guard !members.isEmpty else { return nil }
        guard let key = try ownDeviceKey() else { throw LogError(.notMember) }
        guard members.isMember(key.device) else { throw LogError(.notMember, key.device.text) }
        return key
    }

    /// Checks that this machine may sign changes. If not, throws the error that ``commit(_:timeout:)`` would throw.
    package func checkThatThisMachineSigns() throws(LogError) {
        _ = try members()
        _ = try signingKey()
    }

    private func ownDeviceKey() throws(LogError) -> DeviceKey? {
        if let known = knownDeviceKey.withLock({ $0 }) { return known }
        let key = try deviceKey?()
        knownDeviceKey.withLock { $0 = key }
        return key
    }

    /// Returns the members in the view's file; nil if that file has been replaced, because its members then cannot be
    /// compared with those that this machine has seen.
    private func currentMembers() throws(LogError) -> MemberList? {
        let origin = view.withLock { $0.origin.authenticator }
        if let known = membership.withLock({ $0 }), known.origin == origin { return known.list }
        let (known, isVault) = try view.withLock { (view) throws(LogError) in
            (Membership(origin: view.origin.authenticator, list: try view.members()), view.store.target == nil)
        }
        // The list in a store of pending changes is as old as that store, so it is not compared with the members seen.
        guard try isVault ? compare(known.list) : true else { return nil }
        membership.withLock { $0 = known }
        return known.list
    }

    /// Compares a list of members with the members that this machine has seen. A removed member who still has the data
    /// key could write a file that lacks the removal, or that has different members from the start.
    ///
    /// - Returns: false if the list lacks known changes but the file was replaced: they may be those of the new file.
    private func compare(_ list: MemberList) throws(LogError) -> Bool {
        guard let memory else { return true }
        let view = view.withLock { $0 }
        let seen = try memory.members { () throws(LogError) in try view.manifest().formerMemoryKeys }
        let landmarks = list.landmarks
        guard acceptsOtherHistory || memory.isHeld || landmarks.includes(seen.landmarks) else {
            if (try? view.store.isReplaced()) == true { return false }
            throw LogError(.diverged, "the list of members, which lacks its first change or a removal,")
        }
        if !memory.isHeld, seen.landmarks != landmarks || seen.isOfFormerKey {
            try memory.remember(members: landmarks, isForced: acceptsOtherHistory) { () throws(LogError) in
                try view.manifest().formerMemoryKeys
            }
        }
        return true
    }
}

package struct LoggedChange: Sendable {
    package let name: String
    /// The time of the change in milliseconds since 1970.
    package let time: UInt64
    package let isRemoval: Bool
    /// The author of the change; nil if the change is not signed.
    package let author: MemberList.Author?
    /// The sequence number of the newest change that the author had seen; nil if the change is not signed.
    package let seen: UInt64?
}

extension SealedLog {
    // The methods below throw `damaged` for an invalid signature, and any error from ``members()``.

    /// Returns, oldest first, the changes behind the current and the kept earlier states of all names with the prefix.
    package func loggedChanges(prefix: [UInt8] = []) throws(LogError) -> [LoggedChange] {
        let members = try members()
        return try withSnapshot { (view) throws(LogError) in
            var changes: [LoggedChange] = []
            var merge = try view.entries(from: prefix)
            while let entry = try merge.next(), entry.name.bytes.starts(with: prefix) {
                for state in entry.signedStates.reversed() {
                    changes.append(
                        LoggedChange(
                            name: entry.name.text, time: state.modified, isRemoval: state.content == nil,
                            author: try view.author(of: state, members), seen: state.authorship?.seen.sequence))
                }
            }
            // Changes made in the same millisecond are ordered by the newest change that each author had seen.
            return changes.sorted { ($0.time, $0.seen ?? 0) < ($1.time, $1.seen ?? 0) }
        }
    }

    package func authors(of entry: Entry) throws(LogError) -> [Nonce: MemberList.Author] {
        let members = try members()
        return try withSnapshot { (view) throws(LogError) in
            var authors: [Nonce: MemberList.Author] = [:]
            for state in entry.signedStates {
                guard let nonce = state.content?.current.nonce else { continue }
                authors[nonce] = try view.author(of: state, members)
            }
            return authors
        }
    }
}

extension LogView {
    fileprivate mutating func author(
        of state: SignedState, _ members: MemberList
    ) throws(LogError) -> MemberList.Author? {
        guard let authorship = state.authorship else { return nil }
        var hash: [UInt8] = []
        if let version = state.content?.current { hash = try sealed(version).hash() }
        return try members.author(of: authorship, for: state.statement(valueHash: hash, in: header.vaultID))
    }
}
