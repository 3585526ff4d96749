private import FoundationEssentials
package import SealedLog

// The local copy of a vault in a database, and the changes that are not stored in the database yet.

extension Keychain.Copies {
    /// The offline changes that were stored in the database when this keychain was opened; nil if there were none.
    public var offlineChanges: Merge? { keychain.offlineChanges }

    /// Whether changes are stored on this machine only, until the server can be reached.
    package var isKeptApart: Bool { keychain.log.keepsChangesApart }

    package var keptCopy: KeptCopy? { keychain.storeLocation.report?.keptCopy }

    /// Reads some of the records that the local copy lacks. Commands that change nothing call this after their output.
    package func completeLocalCopy() { keychain.log.completeCopy() }

    /// The files of changes that wait under another URL, which belongs to another vault or was this vault's before.
    package var changesElsewhere: [String] {
        let own = ((try? keychain.storeLocation.pending()) ?? nil)?.path
        return changes(inFilesEndingIn: FileLocation.pendingEnding).filter { $0 != own }
    }

    /// The files of changes that waited for a server, some of which a merge has refused.
    package var refusedChanges: [String] { changes(inFilesEndingIn: FileLocation.refusedEnding) }

    private func changes(inFilesEndingIn ending: String) -> [String] {
        let location = keychain.location
        guard location.isInDatabase, let folder = location.rollbackMemory else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }

    // MARK: Comparing with another machine

    /// Returns the vault's newest log position as one word, to compare it on another machine.
    package func head() throws(VaultError) -> String { try keychain.translated(keychain.log.headText()) }

    /// Returns whether the vault's history includes another machine's newest log position; nil if it is too short.
    package func compare(head: String) throws(VaultError) -> Inclusion? {
        try keychain.translated(keychain.log.includesHead(head))
    }
}
