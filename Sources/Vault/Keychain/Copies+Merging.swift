import LinuxSystem
package import SealedLog

extension Keychain {
    /// Other copies of this vault: backups, those that were changed elsewhere, and the one that this machine keeps.
    public var copies: Copies { Copies(keychain: self) }

    /// Backups and merges of a vault: see ``Keychain/copies``.
    public struct Copies: Sendable { let keychain: Keychain }
}

extension Keychain.Copies {
    /// The result of a merge.
    public struct Merge: Hashable, Sendable {
        /// The names that were added or changed here, sorted bytewise.
        public var changed: [String] { report.changed }
        /// The names that both sides changed after their last common change. The later value wins, and the earlier one
        /// is in the history, unless it is among ``dropped``. A name that a side may have changed counts as changed.
        public var conflicts: [String] { report.conflicts }
        /// The conflicts whose other value is not kept: the vault keeps no history, or the entry has no room.
        public var dropped: [String] { report.dropped }
        /// The names with changes that were left out, sorted bytewise, since somebody without access any more may have
        /// made them: the copy is under a former data key, or a removed member and no present one has signed them. The
        /// copy does not count as merged; `vault merge --from-former-key` takes them over.
        public var refused: [String] { report.refused }
        package var refusedRemovals: Set<EntryName> { report.refusedRemovals }
        /// Whether the copies had different keys: see ``Keychain/VaultKeys/all()`` for those that open the vault now.
        public var keysDiffered: Bool { keys != .same }
        package var keys: MergeReport.Keys { report.keys }
        package var isOfFormerKey: Bool { report.isOfFormerKey }
        package var refusesOwn: Bool { report.refusesOwn }
        /// The changes of the key slots; see ``doubtedKeys`` and the properties beside it.
        let slots: MergedSlots
        package var members: MemberDifferences { report.members }
        package var keptAt: String? { report.keptAt }
        package var isUnfinished: Bool { report.isUnfinished }
        package var isWhole: Bool { report.isWhole }
        private let report: MergeReport
    }

    /// Takes over the changes of another copy of this vault, such as one from a file synchronization, git or a backup.
    ///
    /// For each name the later state wins, even if it is a removal, and all values of both sides are in its history,
    /// except those that one side has purged. Merging in the other direction has the same result, except for the keys
    /// and the limits of the history: those of this copy win, unless the data key was rotated in the other one, or the
    /// other one has what this machine remembers of the vault and this one has not. The other copy is only read.
    /// Afterwards, this file can take the place of both copies: machines that remember either one take it for the later
    /// one.
    ///
    /// - Parameter path: the other copy's path. A key that opens this vault has to open it.
    /// - Throws: ``VaultError`` with `invalid` if it is no copy of this vault; `noVault`, `locked`, `damaged`, with the
    ///   path of the copy; as ``Keychain/eraseRemoved()``. What was merged before an error stays; merge again.
    @discardableResult
    public func merge(_ path: String) throws(VaultError) -> Merge {
        try merge(copy(at: path), taking: .none, keepingKeys: [], progress: nil)
    }

    /// Another copy of this vault, which was opened to be merged.
    package struct Copy {
        fileprivate let location: VaultLocation
        fileprivate let log: SealedLog
        fileprivate let isPinned: Bool
        package var path: String { location.vault }

        /// Translates an error of the copy. The fingerprint option is for the vault itself: a copy's fingerprint can
        /// only be added to an identity file.
        fileprivate func refusal(_ error: LogError) -> VaultError {
            let refusal = VaultError(error, location)
            guard error.code == .pinWrong else { return refusal.ofMergedCopy }
            let file = location.identityFile.map { " \($0)" } ?? ""
            return refusal.followed(
                by: "If it is this one, add it to your identity file\(file) as a line, and merge again: "
                    + "# vault: \(Fingerprint.text(error.detail))", nil
            ).ofMergedCopy
        }
    }

    /// Opens another copy of this vault, with prompts as its keys need them.
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
    ///   - taken: the names whose changes are taken over from anyone.
    ///   - keptKeys: the salts of the keys that stay, whatever the copy has removed; see
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

    /// Returns the first of the names that neither this vault nor any of the copies has, or has had. One that cannot
    /// be read may have any name.
    package func unknownName(among names: [String], in copies: [Copy]) -> String? {
        let logs = [keychain.log] + copies.map(\.log)
        return names.first { name in
            guard let entry = EntryName(name) else { return true }
            return logs.allSatisfy { log in
                do throws(LogError) { return try log.history(entry) == nil } catch { return false }
            }
        }
    }

    /// Whether the vault lacks what this machine remembers, so that it can only be merged.
    package var isJoining: Bool { keychain.log.isJoining }

    /// Remembers the vault again that was opened to be merged with what this machine remembers. Throws the alarm, if it
    /// has not all of that.
    package func finishMerging() throws(VaultError) {
        do throws(LogError) { try keychain.log.finishJoining() } catch {
            throw VaultError.alarm(error, keychain.location, tried: keychain.options.mergedNext, isMerged: true)
                ?? VaultError(error, keychain.location)
        }
    }

    /// Translates an error of this vault. An alarm does not advise to merge what was just to be merged.
    private func refusal(_ error: LogError, merging paths: [String]) -> VaultError {
        let tried = keychain.options.mergedNext.isEmpty ? paths : keychain.options.mergedNext
        return VaultError.alarm(error, keychain.location, tried: tried) ?? VaultError(error, keychain.location)
    }
}

extension Keychain.Copies.Merge {
    /// The names are those of the whole vault, which is what was merged.
    ///
    /// - Parameters:
    ///   - before: the slots that opened the vault before.
    ///   - after: those that open it now.
    ///   - copy: those that open the copy.
    init(_ report: MergeReport, from before: [LogKeySlot], to after: [LogKeySlot], of copy: [LogKeySlot]) {
        self.report = report
        slots = MergedSlots(
            before: before, after: after, copy: copy, gone: report.goneKeys, doubted: report.doubtedKeys)
    }
}

/// The slots of a vault before a merge and after it, and those of the copy.
struct MergedSlots: Hashable {
    let before, after, copy: [LogKeySlot]
    /// The slots that one of the copies has removed.
    let gone: [LogKeySlot]
    /// The indexes of the slots that the copy has removed, or may have, if nothing was merged.
    let doubted: [Int]
}
