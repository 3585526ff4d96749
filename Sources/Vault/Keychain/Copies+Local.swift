private import FoundationEssentials
package import SealedLog

// What this machine keeps of a vault in a database, and what it still has to store there.

extension Keychain.Copies {
    /// What opening this keychain has stored in the database of what was changed while no server answered; nil if that
    /// was nothing.
    public var offlineChanges: Merge? { keychain.offlineChanges }

    /// Whether changes are kept on this machine only, until the server can be reached.
    package var isKeptApart: Bool { keychain.log.keepsChangesApart }

    /// What this machine has kept of a vault in a database.
    package var keptCopy: KeptCopy? { keychain.storeLocation.report?.keptCopy }

    /// Reads some of what is missing in the copy that this machine keeps: what a command does after its answer that
    /// changes nothing.
    package func completeLocalCopy() { keychain.log.completeCopy() }

    /// The files with changes that wait for a server under another URL: of another vault, or of this one, whose URL was
    /// another when they were made.
    package var changesElsewhere: [String] {
        let own = ((try? keychain.storeLocation.pending()) ?? nil)?.path
        return changes(inFilesEndingIn: FileLocation.pendingEnding).filter { $0 != own }
    }

    /// The files with changes that waited for a server, and of which a merge has refused some.
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
