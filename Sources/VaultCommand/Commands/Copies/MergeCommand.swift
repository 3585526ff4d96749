import Formats
import LinuxSystem
import SealedLog
import Vault

enum MergeCommand: Command {
    static let description = CommandDescription(
        name: .merge, section: .copies, summary: "merge another copy of the vault into this one",
        arguments: [
            .init(
                name: "OTHER", count: .any, completion: .file,
                help: "Another copy; it is not changed (default: conflict copies that file synchronization has left).")
        ],
        options: [
            .detached,
            .init(
                name: .fromFormerKey, value: "NAME", isRepeatable: true,
                help: "Accept this name's change, although someone without access may have made it."),
            .init(name: .allFromFormerKey, help: "Accept all changes that someone without access may have made."),
            .init(
                name: .keep, value: "NUMBER", isRepeatable: true,
                help: "Keep this key in the vault, even if it was removed in the copy."),
            .init(
                name: .gitPath, value: "PATH",
                help: "The vault's path in the repository, for git's merge driver, which passes temporary files."),
        ],
        details: """
            Merges diverged copies, for example those that file synchronization, git or a backup has left. For each \
            name the later change wins, even if it is a removal, and the history gets all values of both copies. Names \
            that were changed in both copies are listed. Merging in the other direction has the same result.

            This vault keeps its keys and its history limits. But if the data key was rotated in the other copy, that \
            copy's keys replace them. A key removed in either copy no longer opens the vault; the report lists \
            added and removed keys. If it is unknown who removed a key, or the data key was rotated in both copies, \
            decide about each key that opens only this copy: keep it (--keep), or leave it out as the message explains.

            From a copy that is older than this vault's last rotation of the data key, only changes signed by a \
            current member are accepted. From any copy, changes signed by a removed member are left out. The names \
            with such changes are listed, so that you can accept the legitimate ones by name.

            Afterwards this file can replace both copies: machines that remember either one accept it as a later \
            version. With `vault setup git-merge`, git merges vaults this way.

            File synchronization may have replaced the vault with another machine's copy and left this machine's copy \
            beside it. The vault may then lack changes that this machine has seen. It is still merged if one of the \
            copies has them. Without OTHER, finds copies by the names that Syncthing, Nextcloud and Dropbox use.

            If a copy cannot be merged, the others still are. The report contains the error, which also sets the exit \
            code. But if someone's access may have been removed in a copy, first decide what this vault keeps. \
            The copies after it are not merged.
            """,
        examples: [
            .init("vault merge", "merge the copies that Syncthing left beside the vault"),
            .init("vault merge /media/usb/default.vault", "merge a copy from another disk"),
        ],
        exitCodes: [
            .init(.usage, "OTHER is not a copy of this vault"),
            .init(.notFound, "no copy has one of the given names; nothing was merged"),
            .init(
                .alarm,
                "changes in OTHER were left out because someone without access may have made them; or the vault "
                    + "still lacks changes that this machine has seen (if no copy has them, nothing was merged); or "
                    + "keys may have been removed in OTHER (nothing was merged)"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let paths = try paths(invocation)
        guard !paths.isEmpty else {
            let vault = try invocation.openVault().location.vault
            return try invocation.finish(json: ["copies": [JSONObject](), "files": [String]()]) {
                "No other copy found beside \(StandardOutput.shown(vault)); nothing to merge.\n"
            }
        }
        guard let path = invocation.value(of: .gitPath) else { return try merge(paths, invocation) }
        let conflict = GitConflict(of: path, invocation)
        do { return try merge(paths, as: conflict.sides, invocation) } catch {
            throw conflict.explaining(CommandError(error, advising: AdvisedCommand(invocation)))
        }
    }

    /// - Parameter sides: the names that messages use for the vault and its copy; nil to use their paths.
    private static func merge(
        _ paths: [String], as sides: MergedSides? = nil, _ invocation: Invocation
    ) throws -> ExitCode {
        let advised = AdvisedCommand(invocation)
        let keychain: Keychain
        do { keychain = try invocation.openVault(mergingNext: paths) } catch let error as VaultError {
            throw CommandError(error, merging: paths, advising: advised)
        }
        let vault = keychain.location.vault
        let outcome = try Outcome(of: paths, into: keychain, invocation)
        let refusals = outcome.merges.filter { !$0.merge.isWhole }
        var errors = outcome.errors.map { CommandError($0.error, merging: [$0.path], advising: advised) }
        var isFinished = refusals.isEmpty
        if !refusals.isEmpty {
            let texts = refusals.map { path, merge in
                var sides = sides ?? MergedSides(vault: vault, copy: path, advised: advised)
                sides.taken = invocation.has(.allFromFormerKey) ? nil : invocation.options[.fromFormerKey] ?? []
                sides.kept = invocation.options[.keep] ?? []
                sides.isJoining = keychain.copies.isJoining
                return merge.refusal(of: sides)
            }
            errors.insert(CommandError(code: "diverged", exit: .alarm, message: texts.joined(separator: "\n")), at: 0)
        } else if !outcome.merges.isEmpty {
            // Throws if the vault still lacks changes that this machine has seen. An unmerged copy may contain them.
            do { try keychain.copies.finishMerging() } catch {
                isFinished = false
                errors.append(CommandError(error, advising: advised))
            }
        }
        let isOfUse = refusals.isEmpty || outcome.merges.contains { $0.merge.isOfUse }
        if !outcome.merges.isEmpty, isOfUse {
            // Verifies the vault before the report permits deleting a copy. Errors are thrown after the report.
            if isFinished, !invocation.has(.detached) {
                do {
                    _ = try invocation.withProgress("Verifying") { try keychain.maintenance.verify(progress: $0) }
                } catch {
                    isFinished = false
                    errors.append(CommandError(error, advising: advised))
                }
            }
            try write(outcome.merges, of: paths.count, isFinished: isFinished, keychain, invocation)
        }
        guard let first = errors.first else { return .success }
        let message = errors.map(\.message).joined(separator: "\n")
        throw CommandError(code: first.code, exit: first.exit, message: message)
    }

    private struct Outcome {
        var merges: [(path: String, merge: Keychain.Copies.Merge)] = []
        var errors: [(path: String, error: VaultError)] = []

        /// Merges each copy that can be merged. Stops at an error in the target vault.
        init(of paths: [String], into keychain: Keychain, _ invocation: Invocation) throws {
            let names = invocation.options[.fromFormerKey] ?? []
            let kept = try Set(
                (invocation.options[.keep] ?? []).map { try invocation.number($0, OptionName.keep.spelling) })
            // A merge may remove and renumber keys, so the keys to keep are identified by their salts.
            let keptKeys = Set(try kept.sorted().map { try keychain.key($0).salt })
            var copies: [Keychain.Copies.Copy] = []
            for path in paths {
                do { copies.append(try keychain.copies.copy(at: path)) } catch { errors.append((path, error)) }
            }
            // The given names are checked only if all copies open, since a copy that does not open may contain a name.
            if errors.isEmpty, let name = keychain.copies.unknownName(among: names, in: copies) {
                throw CommandError(
                    code: "absent", exit: .notFound,
                    message: "No entry named \"\(name)\" in \(keychain.location.vault) or in "
                        + "\(paths.joined(separator: ", ")). Nothing was merged.")
            }
            for copy in copies {
                do {
                    let merge = try invocation.withProgress("Merging") { progress in
                        try keychain.copies.merge(
                            copy, taking: invocation.has(.allFromFormerKey) ? .all : NamesTaken(names),
                            keepingKeys: keptKeys, progress: progress)
                    }
                    merges.append((copy.path, merge))
                    // The user must first decide about this vault's own changes or keys, so no further copy is merged.
                    if merge.refusesOwn || !merge.doubtedKeys.isEmpty { return }
                } catch let error as VaultError {
                    errors.append((copy.path, error))
                    guard error.isOfMergedCopy else { return }
                }
            }
        }
    }

    private static func write(
        _ merges: [(path: String, merge: Keychain.Copies.Merge)], of count: Int, isFinished: Bool, _ keychain: Keychain,
        _ invocation: Invocation
    ) throws {
        let reports = merges.map { report($0.merge) }
        let json: JSONObject =
            invocation.arguments.count == 1 ? reports[0] : ["copies": reports, "files": merges.map(\.path)]
        _ = try invocation.finish(json: json) {
            merges.map { (path, merge) in
                let isDeletable = isFinished && isDeletable(path, besides: keychain.location.vault, invocation)
                let isWhole = merge.isWhole && merge.dropped.isEmpty && !merge.isUnfinished
                return (count > 1 ? "\(StandardOutput.shown(path)):\n" : "")
                    + merge.text(AdvisedCommand(invocation))
                    + (isDeletable && isWhole ? "You may delete \(StandardOutput.shown(path)).\n" : "")
            }.joined()
        }
    }

    private static func paths(_ invocation: Invocation) throws -> [String] {
        guard invocation.arguments.isEmpty else { return invocation.arguments }
        return CopiesBeside(try invocation.location().vault).files
    }

    private static func report(_ merge: Keychain.Copies.Merge) -> JSONObject {
        [
            "changed": merge.changed, "conflicts": merge.conflicts, "dropped": merge.dropped, "keys": merge.keys.name,
            "refused": merge.refused, "keys_added": merge.addedKeys.map(\.report),
            "keys_lost": merge.lostKeys.map(\.report), "keys_removed": merge.removedKeys.map(\.report),
            "keys_here_alone": merge.keysOfVaultAlone.map(\.report),
            "keys_there_alone": merge.keysOfCopyAlone.map(\.report), "removed_members": merge.members.removed,
            "members_here_alone": merge.members.hereAlone, "members_there_alone": merge.members.thereAlone,
        ]
    }

    /// Returns false if the copy cannot be examined, is the vault itself, or may be a temporary file that git deletes.
    private static func isDeletable(_ path: String, besides vault: String, _ invocation: Invocation) -> Bool {
        let files = PosixFileSystem()
        guard !invocation.has(.detached), let copy = try? files.status(at: path) else { return false }
        return copy.identity != (try? files.status(at: vault))?.identity
    }
}
