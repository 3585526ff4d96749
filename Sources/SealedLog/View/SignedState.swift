import Sealing

struct SignedState {
    let name: EntryName
    let modified: UInt64
    let content: Entry.Content?
    let authorship: Authorship?

    func statement(valueHash: [UInt8], in vaultID: [UInt8]) -> Statement {
        Statement(name, at: modified, content, valueHash: valueHash, in: vaultID)
    }
}

extension Entry {
    /// The entry's current state and its earlier ones, whether signed or not.
    var signedStates: [SignedState] {
        [SignedState(name: name, modified: modified, content: content, authorship: authorship)]
            + earlier.map { earlier in
                let content = Content(
                    created: 0, current: earlier.version, expiry: earlier.expiry, attributes: earlier.attributes)
                return SignedState(
                    name: name, modified: earlier.modified, content: content, authorship: earlier.authorship)
            }
    }
}

extension LogView {
    /// Returns the members. Does not read the manifest if the vault has no members.
    func members() throws(LogError) -> MemberList {
        guard header.hasMembers else { return try MemberList([], in: header.vaultID, at: head) }
        return try members(in: manifest())
    }

    func members(in manifest: Manifest) throws(LogError) -> MemberList {
        do throws(LogError) {
            return try MemberList(
                manifest.members, knownToKey: manifest.membersKnownToKey, in: header.vaultID, at: head)
        } catch {
            throw .damaged(error.detail, at: header.manifest.offset)
        }
    }
}

/// A signer for the states of a record's entries.
struct StateSigner: Sendable {
    let key: DeviceKey
    let vaultID: [UInt8]
    let seen: LogPosition

    /// Signs an entry's current state. `value` is the entry's value; nil if the entry is removed.
    func authorship(of entry: Entry, _ value: SealedValue?) throws(LogError) -> Authorship {
        let hash = try value.map { (value) throws(LogError) in try value.hash() } ?? []
        return try sign(Statement(entry.name, at: entry.modified, entry.content, valueHash: hash, in: vaultID))
    }

    func sign(_ statement: Statement) throws(LogError) -> Authorship { try key.sign(statement, after: seen) }
}

extension LogView {
    func signer(_ key: DeviceKey) -> StateSigner { StateSigner(key: key, vaultID: header.vaultID, seen: head) }
}
