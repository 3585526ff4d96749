private import FoundationEssentials
import LinuxSystem
package import SealedLog

extension Keychain {
    /// Other copies of this vault: backups, copies that were changed elsewhere, and this machine's local copy.
    public var copies: Copies { Copies(keychain: self) }

    /// Backups and merges of a vault; see ``Keychain/copies``.
    public struct Copies: Sendable { let keychain: Keychain }
}

extension Keychain.Copies {
    /// The result of a merge.
    public struct Merge: Hashable, Sendable {
        /// The names of the entries that the merge has added or changed in this vault, sorted bytewise.
        public var changed: [String] { report.changed }
        /// The names of entries that have, or may have, changed in both the vault and the copy since their last common
        /// change. The later value wins. The history keeps the earlier value, unless the name is in ``dropped``.
        public var conflicts: [String] { report.conflicts }
        /// The ``conflicts`` whose earlier value is lost, because the vault keeps no history or the entry's is full.
        public var dropped: [String] { report.dropped }
        /// The names of the entries whose changes were refused, sorted bytewise. Such changes may have been made by
        /// someone whose access was revoked: either the copy has a former data key, or the changes are signed only by a
        /// former member. The copy does not count as merged. `vault merge --from-former-key` accepts the changes.
        public var refused: [String] { report.refused }
        package var refusedRemovals: Set<EntryName> { report.refusedRemovals }
        /// Whether the vault and the copy had different keys. ``Keychain/VaultKeys/all()`` returns the merged keys.
        public var keysDiffered: Bool { keys != .same }
        package var keys: MergeReport.Keys { report.keys }
        package var isOfFormerKey: Bool { report.isOfFormerKey }
        package var refusesOwn: Bool { report.refusesOwn }
        /// The key slots before and after the merge, from which ``doubtedKeys`` and similar properties are derived.
        let slots: MergedSlots
        package var members: MemberDifferences { report.members }
        package var keptAt: String? { report.keptAt }
        package var isUnfinished: Bool { report.isUnfinished }
        package var isWhole: Bool { report.isWhole }
        private let report: MergeReport
    }

    /// Merges another copy's changes into this vault. The copy may come from file synchronization, git or a backup.
    ///
    /// For each entry, the later state wins, even if it is a removal. The entry's history then contains all values of
    /// the vault and the copy, except values that were purged from either. Merging in the other direction gives the
    /// same result, except for keys and history limits. This vault keeps its own keys and limits, unless the copy's
    /// data key was rotated, or only the copy has the log position that this machine remembers. The copy is only read.
    /// The merged vault can replace both, since machines that remember either one accept it as a later state.
    ///
    /// - Parameter path: the other copy's path. A key that opens this vault must also open the copy.
    /// - Throws: ``VaultError`` with `invalid` if `path` is not a copy of this vault; `noVault`, `locked` or `damaged`
    ///   if the copy is missing or unusable; the same errors as ``Keychain/eraseRemoved()``. Changes that were merged
    ///   before an error are kept. Repeat the merge to complete it.
    @discardableResult
    public func merge(_ path: String) throws(VaultError) -> Merge {
        try merge(copy(at: path), taking: .none, keepingKeys: [], progress: nil)
    }

    package struct Copy {
        fileprivate let location: VaultLocation
        fileprivate let log: SealedLog
        fileprivate let isPinned: Bool
        package var path: String { location.vault }

        /// Translates an error of the copy. If the copy's fingerprint is unknown, the message advises adding it to the
        /// identity file, because the fingerprint option applies only to the vault itself.
        fileprivate func refusal(_ error: LogError) -> VaultError {
            let refusal = VaultError(error, location)
            guard error.code == .pinWrong else { return refusal.ofMergedCopy }
            let file = location.identityFile.map { " \($0)" } ?? ""
            return refusal.followed(
                by: "If the two match, add this line to your identity file\(file), and merge again: "
                    + "# vault: \(Fingerprint.text(error.detail))", nil
            ).ofMergedCopy
        }
    }

    /// Opens another copy of this vault, and prompts for a secret if necessary.
    package func copy(at path: String) throws(VaultError) -> Copy {
        if !VaultLocation.isURL(path) { try VaultLocation.check(path, "The other copy's path") }
        var otherLocation = keychain.location
        otherLocation.vault = path
        do throws(VaultError) {
            let (other, isPinned) = try KeychainOpening.openCopy(
                otherLocation, keychain.options, in: keychain.storeLocation.files)
            guard other.vaultID == keychain.log.vaultID else {
                throw VaultError(.invalid, "\(path) is another vault, not a copy of this one.")
            }
            return Copy(location: otherLocation, log: other, isPinned: isPinned)
        } catch { throw error.ofMergedCopy }
    }

    /// - Parameters:
    ///   - taken: the names of the entries whose changes to accept, regardless of who made them.
    ///   - keptKeys: the salts of the keys to keep even if they were removed from the copy; see
    ///     ``Keychain/VaultKeys/Key/salt``.
    package func merge(
        _ copy: Copy, taking taken: NamesTaken, keepingKeys keptKeys: Set<[UInt8]>, progress: UpkeepProgress?
    ) throws(VaultError) -> Merge {
        let (state, slots): (SealedLog.MergedState, [LogKeySlot])
        do throws(LogError) { (state, slots) = try (copy.log.stateToMerge(), copy.log.keySlots().shown) } catch {
            throw copy.refusal(error)
        }
        let (before, report): ([LogKeySlot], MergeReport)
        do throws(LogError) {
            before = try keychain.log.keySlots().shown
            report = try keychain.options.waiting(for: keychain.location.vault) { (timeout) throws(LogError) in
                try keychain.log.merge(
                    state, isPinned: copy.isPinned, taking: taken, keepingKeys: keptKeys,
                    keeping: keychain.options.keptAttribute, timeout: timeout, progress)
            }
        } catch {
            switch error.code {
            case .copyDamaged: throw copy.refusal(LogError(.damaged, error.detail))
            case .pinWrong: throw copy.refusal(error)
            default: throw refusal(error, merging: [copy.path])
            }
        }
        progress?.finish()
        keychain.reportNotices()
        // The merge may have changed the fingerprint. This machine has opened the vault, so it trusts the new one.
        keychain.rememberNewFingerprint()
        keychain.changes.notify()
        return Merge(report, from: before, to: try keychain.translated(keychain.log.keySlots()).shown, of: slots)
    }

    /// Returns the first of `names` that has never existed in this vault or in any of the copies; nil if there is none.
    /// A vault or copy that cannot be read is assumed to have every name.
    package func unknownName(among names: [String], in copies: [Copy]) -> String? {
        let logs = [keychain.log] + copies.map(\.log)
        return names.first { name in
            guard let entry = EntryName(name) else { return true }
            return logs.allSatisfy { log in
                do throws(LogError) { return try log.history(entry) == nil } catch { return false }
            }
        }
    }

    /// Whether the vault was opened only for a merge, because it lacks a log position that this machine remembers.
    package var isJoining: Bool { keychain.log.isJoining }

    /// Updates the rollback memory after the merge for which the vault was opened. Throws the rollback alarm if the
    /// vault still lacks the log position that this machine remembers.
    package func finishMerging() throws(VaultError) {
        do throws(LogError) { try keychain.log.finishJoining() } catch {
            throw VaultError.alarm(error, keychain.location, tried: keychain.options.mergedNext, isMerged: true)
                ?? VaultError(error, keychain.location)
        }
    }

    /// Translates an error of this vault, not of a copy. A rollback alarm does not advise merging copies already tried.
    private func refusal(_ error: LogError, merging paths: [String]) -> VaultError {
        let tried = keychain.options.mergedNext.isEmpty ? paths : keychain.options.mergedNext
        return VaultError.alarm(error, keychain.location, tried: tried) ?? VaultError(error, keychain.location)
    }
}

extension Keychain.Copies.Merge {
    /// Creates the result of a merge. It contains names from the whole vault, even if the keychain shows only a part.
    init(_ report: MergeReport, from before: [LogKeySlot], to after: [LogKeySlot], of copy: [LogKeySlot]) {
        self.report = report
        slots = MergedSlots(
            before: before, after: after, copy: copy, gone: report.goneKeys, doubted: report.doubtedKeys)
    }
}

struct MergedSlots: Hashable {
    let before, after, copy: [LogKeySlot]
    /// The slots that no longer exist after the merge, because the vault or the copy has removed them.
    let gone: [LogKeySlot]
    /// The indices of this vault's slots that may have been removed from the copy. If there are any, nothing is merged.
    let doubted: [Int]
}

// Methods and properties for the local copy of a vault in a database, and for changes that the database lacks.

extension Keychain.Copies {
    /// The result of merging offline changes into the database when this keychain was opened; nil if there were none.
    public var offlineChanges: Merge? { keychain.offlineChanges }

    /// Whether changes are stored only on this machine until the server can be reached.
    package var isKeptApart: Bool { keychain.log.keepsChangesApart }

    package var keptCopy: KeptCopy? { keychain.storeLocation.report?.keptCopy }

    /// Adds missing records to the local copy, unless too many are missing. Read-only commands do this last.
    package func completeLocalCopy() { keychain.log.completeCopy() }

    /// The paths of files with pending changes for other vaults, or for a former URL of this vault.
    package var changesElsewhere: [String] {
        let own = ((try? keychain.storeLocation.pending()) ?? nil)?.path
        return changes(inFilesEndingIn: FileLocation.pendingEnding).filter { $0 != own }
    }

    /// The paths of files that contain offline changes, some or all of which a merge has refused.
    package var refusedChanges: [String] { changes(inFilesEndingIn: FileLocation.refusedEnding) }

    private func changes(inFilesEndingIn ending: String) -> [String] {
        let location = keychain.location
        guard location.isInDatabase, let folder = location.rollbackMemory else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }

    /// Returns the vault's newest log position as a single word, to be compared on another machine.
    package func head() throws(VaultError) -> String { try keychain.translated(keychain.log.headText()) }

    /// Returns whether the vault's history includes another machine's ``head()``; nil if the history ends before it.
    package func compare(head: String) throws(VaultError) -> Inclusion? {
        try keychain.translated(keychain.log.includesHead(head))
    }
}
