import Formats
import LinuxSystem
import SealedLog
import Vault

enum MergeCommand: Command {
    static let description = CommandDescription(
        name: .merge, summary: "take over what another copy of the vault has",
        arguments: [
            .init(
                name: "OTHER", count: .any, completion: .file,
                help: "Another copy. It is only read. Without one, those that a file synchronization has left.")
        ],
        options: [
            .detached,
            .init(
                name: .fromFormerKey, value: "NAME", isRepeatable: true,
                help: "Take this name over, although somebody who was shut out may have changed it."),
            .init(name: .allFromFormerKey, help: "Take all of them over."),
            .init(
                name: .keep, value: "NUMBER", isRepeatable: true,
                help: "Keep this key of the vault, although the copy has removed it, or may have."),
            .init(
                name: .gitPath, value: "PATH",
                help: "Where git has the vault. git's merge driver says so, since it gives files of its own."),
        ],
        details: [
            """
            For copies that went apart, by file synchronization, git or a backup. Of each name the later value counts, \
            also a removal, and all values of both copies are in its history. Names that both have changed are listed. \
            Merging in the other direction comes to the same.
            """,
            """
            The keys that open the vault, and the limits of its history, stay as they are here. But if the data key \
            was rotated in the other copy, its keys count. A key that either copy has removed opens the vault no more, \
            and which keys come and go is told. If nobody knows who has removed a key, or if both copies were rotated, \
            you are asked about each that opens this copy alone: keep it with --keep, or leave it out as the message \
            says.
            """,
            """
            Of a copy from before the data key was rotated here, only what somebody has signed who is a member still \
            is taken over. In any copy, what a removed member has signed is left out. These names are listed: take \
            over what is right by its name.
            """,
            """
            Afterwards this file can take the place of both copies: machines that remember either one take it for the \
            later one. `vault setup git-merge` lets git merge vaults so.
            """,
            """
            A file synchronization may have put the other machine's copy in the place of the vault, and this machine's \
            beside it. The vault is then merged although it lacks what this machine has seen, if one of the copies has \
            that. Without OTHER, the copies are found by the names that Syncthing, Nextcloud and Dropbox give them.
            """,
            """
            A copy that cannot be merged does not stop the others. It is named with what is wrong with it, and the \
            exit code is the one of that. But if somebody may have been shut out of a copy who is not shut out here, \
            you have to decide about that first: nothing of the copies after it is merged.
            """,
        ],
        examples: [
            .init("vault merge", "what Syncthing has left beside the vault"),
            .init("vault merge /media/usb/default.vault", "a copy in another place"),
        ],
        exitCodes: [
            .init(.usage, "OTHER is no copy of this vault"),
            .init(.notFound, "no copy has a NAME that was given; nothing was merged"),
            .init(
                .alarm,
                "something of OTHER was not taken over, since somebody who was shut out may have changed it; or the "
                    + "vault lacks what this machine has seen, and so does each OTHER: nothing is merged; or it still "
                    + "lacks that after the merge; or keys were removed in OTHER, or may have been: nothing is merged"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let paths = try paths(invocation)
        guard !paths.isEmpty else {
            let vault = try invocation.location().vault
            return try invocation.finish(json: ["copies": [JSONObject](), "files": [String]()]) {
                "There is no other copy beside \(StandardOutput.shown(vault)) to merge.\n"
            }
        }
        guard let path = invocation.value(of: .gitPath) else { return try merge(paths, invocation) }
        let conflict = GitConflict(of: path, invocation)
        do { return try merge(paths, as: conflict.sides, invocation) } catch {
            throw conflict.told(CommandError(error, advising: AdvisedCommand(invocation)))
        }
    }

    /// - Parameter sides: what messages call the vault and its copy, if they have other names than their paths.
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
                sides.isJoining = keychain.isJoining
                return merge.refusal(of: sides)
            }
            errors.insert(
                CommandError(code: "diverged", exit: .alarm, message: texts.joined(separator: "\n")), at: 0)
        } else if !outcome.merges.isEmpty {
            // A copy that could not be merged may be the one that has what this machine remembers.
            do { try keychain.finishMerging() } catch {
                isFinished = false
                errors.append(CommandError(error, advising: advised))
            }
        }
        let isOfUse = refusals.isEmpty || outcome.merges.contains { $0.merge.isOfUse }
        if !outcome.merges.isEmpty, isOfUse {
            // Before the only other copy may be deleted. An error of it comes after what was done.
            if isFinished, !invocation.has(.detached) {
                do { _ = try invocation.withProgress("Verifying") { try keychain.verify(progress: $0) } } catch {
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

    /// What has become of each copy.
    private struct Outcome {
        var merges: [(path: String, merge: Keychain.Merge)] = []
        var errors: [(path: String, error: VaultError)] = []

        /// Merges what can be merged. An error of the vault itself ends it.
        init(of paths: [String], into keychain: Keychain, _ invocation: Invocation) throws {
            let names = invocation.options[.fromFormerKey] ?? []
            let kept = try Set(
                (invocation.options[.keep] ?? []).map { try invocation.number($0, OptionName.keep.spelling) })
            // A merge may remove keys, and the numbers of the next ones change.
            let keptKeys = Set(try kept.sorted().map { try keychain.key($0).salt })
            var copies: [Keychain.Copy] = []
            for path in paths {
                do { copies.append(try keychain.copy(at: path)) } catch { errors.append((path, error)) }
            }
            // A copy that does not open may have any name.
            if errors.isEmpty, let name = keychain.unknownName(among: names, in: copies) {
                throw CommandError(
                    code: "absent", exit: .notFound,
                    message: "No entry named \"\(name)\", neither in \(keychain.location.vault) nor in "
                        + "\(paths.joined(separator: ", ")). Nothing was merged.")
            }
            for copy in copies {
                do {
                    let merge = try invocation.withProgress("Merging") { progress in
                        try keychain.merge(
                            copy, taking: invocation.has(.allFromFormerKey) ? .all : NamesTaken(names),
                            keepingKeys: keptKeys, progress: progress)
                    }
                    merges.append((copy.path, merge))
                    // A person has to look at this vault first, so nothing else is merged into it.
                    if merge.refusesOwn || !merge.doubtedKeys.isEmpty { return }
                } catch let error as VaultError {
                    errors.append((copy.path, error))
                    guard error.isOfMergedCopy else { return }
                }
            }
        }
    }

    private static func write(
        _ merges: [(path: String, merge: Keychain.Merge)], of count: Int, isFinished: Bool, _ keychain: Keychain,
        _ invocation: Invocation
    ) throws {
        let reports = merges.map { report($0.merge) }
        let json: JSONObject =
            invocation.arguments.count == 1 ? reports[0] : ["copies": reports, "files": merges.map(\.path)]
        _ = try invocation.finish(json: json) {
            merges.map { (path, merge) in
                text(
                    merge, of: path, isOneOfSeveral: count > 1,
                    isDeletable: isFinished && isDeletable(path, besides: keychain.location.vault, invocation))
            }.joined()
        }
    }

    private static func paths(_ invocation: Invocation) throws -> [String] {
        guard invocation.arguments.isEmpty else { return invocation.arguments }
        return CopiesBeside(try invocation.location().vault).files
    }

    private static func report(_ merge: Keychain.Merge) -> JSONObject {
        [
            "changed": merge.changed, "conflicts": merge.conflicts, "dropped": merge.dropped, "keys": merge.keys.name,
            "refused": merge.refused, "keys_added": merge.addedKeys.map(\.report),
            "keys_lost": merge.lostKeys.map(\.report), "keys_removed": merge.removedKeys.map(\.report),
            "keys_here_alone": merge.keysOfVaultAlone.map(\.report),
            "keys_there_alone": merge.keysOfCopyAlone.map(\.report), "removed_members": merge.members.removed,
            "members_here_alone": merge.members.hereAlone, "members_there_alone": merge.members.thereAlone,
        ]
    }

    private static func text(_ merge: Keychain.Merge, of path: String, isOneOfSeveral: Bool, isDeletable: Bool)
        -> String
    {
        let title = isOneOfSeveral ? "\(StandardOutput.shown(path)):\n" : ""
        let isWhole = merge.isWhole && merge.dropped.isEmpty && !merge.isUnfinished
        return title + merge.text
            + (isDeletable && isWhole ? "You may delete \(StandardOutput.shown(path)).\n" : "")
    }

    /// Whether a path leads to a file of its own. git removes its own copies.
    private static func isDeletable(_ path: String, besides vault: String, _ invocation: Invocation) -> Bool {
        let files = PosixFileSystem()
        guard !invocation.has(.detached), let copy = try? files.status(at: path) else { return false }
        return copy.identity != (try? files.status(at: vault))?.identity
    }
}

extension OptionDescription {
    static let detached = OptionDescription(
        name: .detached,
        help: "Do not compare the file with what this machine remembers, as for a copy in another place.")
}
