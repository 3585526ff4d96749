import LinuxSystem
package import SealedLog

extension Keychain {
    /// What a merge has done.
    public struct Merge: Hashable, Sendable {
        /// The names that have come or changed here, sorted bytewise.
        public let changed: [String]
        /// The names that both sides had changed since they went apart: the later value counts, and the earlier one is
        /// in the history.
        public let conflicts: [String]
    }

    /// Takes over what another copy of this vault has: one that a file synchronization, git or a backup has left beside
    /// it, and that others have changed.
    ///
    /// Of each name the later state counts, also a removal, and all values of both sides are in its history. Merging in
    /// the other direction comes to the same. The other copy is only read. Afterwards, this file can take the place of
    /// both copies: machines that remember either one take it for the later one.
    ///
    /// - Parameter path: of the other copy. The keys that open this vault have to open it.
    /// - Throws: ``VaultError`` with `invalid` if it is no copy of this vault; `noVault`, `locked`, `damaged`; as
    ///   ``eraseRemoved()``. What was merged before an error stays; merge again.
    @discardableResult
    public func merge(_ path: String) throws(VaultError) -> Merge {
        try merge(path, progress: nil)
    }

    package func merge(_ path: String, progress: UpkeepProgress?) throws(VaultError) -> Merge {
        try VaultPlaces.check(path, "The other copy's path")
        var (otherPlaces, otherOptions) = (places, options)
        otherPlaces.vault = path
        // What this machine remembers is the vault at its own path.
        otherOptions.usesRollbackMemory = false
        let opening = try KeychainOpening(otherPlaces, otherOptions)
        let other: KeychainOpening.Outcome
        do { other = try opening.open(creatingIfAbsent: false) } catch {
            throw opening.refusal.translated(error, otherPlaces)
        }
        let report = try waiting(progress) { (timeout) throws(LogError) in
            try log.merge(other.log, timeout: timeout, progress)
        }
        changes.notify()
        return Merge(changed: report.changed.map(shortened), conflicts: report.conflicts.map(shortened))
    }
}
