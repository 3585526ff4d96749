private import FoundationEssentials
import LinuxSystem
package import SealedFormat
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
        /// The names that were added or changed in this vault, sorted bytewise.
        public var changed: [String] { report.changed }
        /// The names that both copies have changed, or may have changed, since their last common change. The later
        /// value wins. The earlier value is in the history, unless the name is in ``dropped``.
        public var conflicts: [String] { report.conflicts }
        /// The conflicts whose other value is lost, since the vault keeps no history or the entry has no room.
        public var dropped: [String] { report.dropped }
        /// The names with changes that were refused because a person whose access was removed may have made them,
        /// sorted bytewise. Either the copy has a former data key, or only a former member has signed the changes. The
        /// copy does not count as merged. `vault merge --from-former-key` accepts these changes.
        public var refused: [String] { report.refused }
        package var refusedRemovals: Set<EntryName> { report.refusedRemovals }
        /// Whether the copies had different keys. ``Keychain/VaultKeys/all()`` returns the present ones.
        public var keysDiffered: Bool { keys != .same }
        package var keys: MergeReport.Keys { report.keys }
        package var isOfFormerKey: Bool { report.isOfFormerKey }
        package var refusesOwn: Bool { report.refusesOwn }
        /// The changes of the key slots; see ``doubtedKeys`` and the properties after it.
        let slots: MergedSlots
        package var members: MemberDifferences { report.members }
        package var keptAt: String? { report.keptAt }
        package var isUnfinished: Bool { report.isUnfinished }
        package var isWhole: Bool { report.isWhole }
        private let report: MergeReport
    }

    /// Merges the changes of another copy of this vault, such as a copy from a file synchronization, git or a backup.
    ///
    /// For each name the later state wins, even if it is a removal. The name's history then has all values of both
    /// copies, except those that one copy has purged. Merging in the other direction has the same result, except for
    /// the keys and the limits of the history. For these, this copy wins, unless the other copy's data key was rotated,
    /// or only the other copy has what this machine remembers of the vault. The other copy is only read. Afterwards,
    /// this file can replace both copies, since machines that remember either one accept it as a later state.
    ///
    /// - Parameter path: the other copy's path. One of the keys that open this vault must open it.
    /// - Throws: ``VaultError`` with `invalid` if it is not a copy of this vault; `noVault`, `locked`, `damaged`, with
    ///   the copy's path; the errors of ``Keychain/eraseRemoved()``. Changes that were merged before an error are kept.
    ///   Repeat the merge to complete it.
    @discardableResult
    public func merge(_ path: String) throws(VaultError) -> Merge {
        try merge(copy(at: path), taking: .none, keepingKeys: [], progress: nil)
    }

    package struct Copy {
        fileprivate let location: VaultLocation
        fileprivate let log: SealedLog
        fileprivate let isPinned: Bool
        package var path: String { location.vault }

        /// Translates an error of the copy. A copy's fingerprint can only be added to an identity file, because the
        /// fingerprint option applies to the vault itself.
        fileprivate func refusal(_ error: LogError) -> VaultError {
            let refusal = VaultError(error, location)
            guard error.code == .pinWrong else { return refusal.ofMergedCopy }
            let file = location.identityFile.map { " \($0)" } ?? ""
            return refusal.followed(
                by: "If it is this one, add this line to your identity file\(file), and merge again: "
                    + "# vault: \(Fingerprint.text(error.detail))", nil
            ).ofMergedCopy
        }
    }

    /// Opens another copy of this vault, and prompts if its keys require it.
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
    ///   - taken: the names whose changes are accepted, whoever made them.
    ///   - keptKeys: the salts of the keys to keep even if the copy has removed them; see
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
        // This machine has opened the vault, so it trusts the new fingerprint, whichever key was used.
        keychain.rememberNewFingerprint()
        keychain.changes.notify()
        return Merge(report, from: before, to: try keychain.translated(keychain.log.keySlots()).shown, of: slots)
    }

    /// Returns the first of the names that neither this vault nor any of the copies has now or had before. A copy that
    /// cannot be read may have any name.
    package func unknownName(among names: [String], in copies: [Copy]) -> String? {
        let logs = [keychain.log] + copies.map(\.log)
        return names.first { name in
            guard let entry = EntryName(name) else { return true }
            return logs.allSatisfy { log in
                do throws(LogError) { return try log.history(entry) == nil } catch { return false }
            }
        }
    }

    /// Whether the vault lacks a log position that this machine remembers, and was only opened for a merge.
    package var isJoining: Bool { keychain.log.isJoining }

    /// Stores the vault's state in the rollback memory again, after the merge for which the vault was opened. Throws
    /// the rollback alarm if the vault still lacks what this machine remembers.
    package func finishMerging() throws(VaultError) {
        do throws(LogError) { try keychain.log.finishJoining() } catch {
            throw VaultError.alarm(error, keychain.location, tried: keychain.options.mergedNext, isMerged: true)
                ?? VaultError(error, keychain.location)
        }
    }

    /// Translates an error of this vault. An alarm does not advise merging the copies that were just tried.
    private func refusal(_ error: LogError, merging paths: [String]) -> VaultError {
        let tried = keychain.options.mergedNext.isEmpty ? paths : keychain.options.mergedNext
        return VaultError.alarm(error, keychain.location, tried: tried) ?? VaultError(error, keychain.location)
    }
}

extension Keychain.Copies.Merge {
    /// Creates the result, whose names are those of the whole vault, because the whole vault was merged.
    init(_ report: MergeReport, from before: [LogKeySlot], to after: [LogKeySlot], of copy: [LogKeySlot]) {
        self.report = report
        slots = MergedSlots(
            before: before, after: after, copy: copy, gone: report.goneKeys, doubted: report.doubtedKeys)
    }
}

struct MergedSlots: Hashable {
    let before, after, copy: [LogKeySlot]
    /// The slots that were removed from one of the copies.
    let gone: [LogKeySlot]
    /// The indices of the slots that were removed from the copy, or may have been, if this prevented the merge.
    let doubted: [Int]
}

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
