private import FoundationEssentials
package import SealedLog

// The local copy of a vault in a database, and the changes that still have to be stored there.

extension Keychain.Copies {
    /// The offline changes that opening this keychain has stored in the database; nil if there were none.
    public var offlineChanges: Merge? { keychain.offlineChanges }

    /// Whether changes are kept on this machine only, until the server can be reached.
    package var isKeptApart: Bool { keychain.log.keepsChangesApart }

    package var keptCopy: KeptCopy? { keychain.storeLocation.report?.keptCopy }

    /// Reads some of the records that the local copy lacks. A command that changes nothing calls this after its output.
    package func completeLocalCopy() { keychain.log.completeCopy() }

    /// The files with changes that wait for a server under another URL: of another vault, or of this one's former URL.
    package var changesElsewhere: [String] {
        let own = ((try? keychain.storeLocation.pending()) ?? nil)?.path
        return changes(inFilesEndingIn: FileLocation.pendingEnding).filter { $0 != own }
    }

    /// The files with changes that waited for a server, some of which a merge has refused.
    package var refusedChanges: [String] { changes(inFilesEndingIn: FileLocation.refusedEnding) }

    private func changes(inFilesEndingIn ending: String) -> [String] {
        let location = keychain.location
        guard location.isInDatabase, let folder = location.rollbackMemory else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }

    // MARK: Comparing with another machine

    /// Returns one word for what the vault's history ends with, for another machine to compare.
    package func head() throws(VaultError) -> String { try keychain.translated(keychain.log.headText()) }

    /// Returns whether this history includes another machine's head; nil if it is not that long.
    package func compare(head: String) throws(VaultError) -> Inclusion? {
        try keychain.translated(keychain.log.includesHead(head))
    }
}
