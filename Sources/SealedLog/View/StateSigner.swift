import Sealing

/// Signs the states of names that a record sets.
struct StateSigner: Sendable {
    let key: DeviceKey
    let vaultID: [UInt8]
    let seen: LogPosition

    /// - Parameter value: the entry's value; nil for a removed entry.
    func authorship(of entry: Entry, _ value: SealedValue?) throws(LogError) -> Authorship {
        let hash = try value.map { (value) throws(LogError) in try value.hash() } ?? []
        return try sign(Statement(entry.name, at: entry.modified, entry.content, valueHash: hash, in: vaultID))
    }

    func sign(_ statement: Statement) throws(LogError) -> Authorship { try key.sign(statement, after: seen) }
}

extension LogView {
    /// Returns the signer of the states that follow the head of this view.
    func signer(_ key: DeviceKey) -> StateSigner { StateSigner(key: key, vaultID: header.vaultID, seen: head) }
}
