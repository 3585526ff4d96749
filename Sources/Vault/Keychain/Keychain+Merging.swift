import LinuxSystem
package import SealedLog

extension Keychain {
    /// What a merge has done.
    public struct Merge: Hashable, Sendable {
        /// Whose keys open the vault from now on.
        public enum Keys: Hashable, Sendable {
            /// Both copies had the same.
            case same
            /// They differed, and those of this copy count: look at ``Keychain/vaultKeys()``.
            case ofThisCopy
            /// The other copy's, whose data key was rotated since: what was locked out there stays out.
            case ofOtherCopy
        }

        /// The names that have come or changed here, sorted bytewise.
        public let changed: [String]
        /// The names that both sides had changed since they went apart: the later value counts, and the earlier one is
        /// in the history, unless it is among ``dropped``. Where nothing tells whether a side has changed a name, both
        /// count as having done so.
        public let conflicts: [String]
        /// Those of the conflicts whose other value is not kept: the vault keeps no history, or the entry has no room.
        public let dropped: [String]
        /// Whose keys open the vault from now on.
        public let keys: Keys
    }

    /// Takes over what another copy of this vault has: one that a file synchronization, git or a backup has left beside
    /// it, and that others have changed.
    ///
    /// Of each name the later state counts, also a removal, and all values of both sides are in its history, but for
    /// what one of them has purged. Merging in the other direction comes to the same, but for the keys and the limits
    /// of the history, which are this copy's. The other copy is only read. Afterwards, this file can take the place of
    /// both copies: machines that remember either one take it for the later one.
    ///
    /// - Parameter path: of the other copy. A key that opens this vault has to open it.
    /// - Throws: ``VaultError`` with `invalid` if it is no copy of this vault; `noVault`, `locked`, `damaged`, with the
    ///   path of the copy that it concerns; as ``eraseRemoved()``. What was merged before an error stays; merge again.
    @discardableResult
    public func merge(_ path: String) throws(VaultError) -> Merge {
        try merge(path, progress: nil)
    }

    package func merge(_ path: String, progress: UpkeepProgress?) throws(VaultError) -> Merge {
        if !VaultPlaces.isURL(path) { try VaultPlaces.check(path, "The other copy's path") }
        var (otherPlaces, otherOptions) = (places, options)
        otherPlaces.vault = path
        // What this machine remembers is the vault at its own path.
        otherOptions.usesRollbackMemory = false
        let opening = try KeychainOpening(otherPlaces, otherOptions, fileSystem: place.files)
        let other: KeychainOpening.Outcome
        do { other = try opening.open(creatingIfAbsent: false) } catch {
            throw opening.refusal.translated(error, otherPlaces)
        }
        let report: MergeReport
        do throws(LogError) {
            report = try options.waiting(for: places.vault) { (timeout) throws(LogError) in
                try log.merge(other.log, timeout: timeout, progress)
            }
        } catch {
            guard error.code == .copyDamaged else { throw VaultError(error, places) }
            throw VaultError(LogError(.damaged, error.detail), otherPlaces)
        }
        progress?.finish()
        reportNotices()
        // Here the vault is known, by whichever key.
        rememberNewFingerprint()
        changes.notify()
        return Merge(report)
    }
}

extension Keychain.Merge {
    /// The names are those of the whole vault, which is what was merged.
    init(_ report: MergeReport) {
        (changed, conflicts, dropped) = (report.changed, report.conflicts, report.dropped)
        keys =
            switch report.keys {
            case .same: .same
            case .own: .ofThisCopy
            case .other: .ofOtherCopy
            }
    }
}
