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
        ],
        details: [
            """
            For copies that went apart, by file synchronization, git or a backup. Of each name the later value counts, \
            also a removal, and all values of both copies are in its history. Names that both have changed are listed. \
            Merging in the other direction comes to the same.
            """,
            """
            The keys that open the vault, and the limits of its history, stay as they are here. But if the data key was \
            rotated in the other copy, its keys count: whoever was locked out there stays out.
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
        ],
        examples: [
            .init("vault merge", "what Syncthing has left beside the vault"),
            .init("vault merge /media/usb/default.vault", "a copy in another place"),
        ],
        exitCodes: [
            .init(.usage, "OTHER is no copy of this vault"),
            .init(
                .alarm,
                "something of OTHER was not taken over, since somebody who was shut out may have changed it; or the "
                    + "vault lacks what this machine has seen, and so does each OTHER: nothing is merged"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let paths = try paths(invocation)
        guard !paths.isEmpty else {
            let vault = try invocation.places().vault
            return try invocation.finish(json: ["copies": [JSONObject](), "files": [String]()]) {
                "There is no other copy beside \(StandardOutput.shown(vault)) to merge.\n"
            }
        }
        let keychain = try invocation.openVault(mergingNext: paths)
        let taken: NamesTaken =
            invocation.has(.allFromFormerKey) ? .all : .some(Set(invocation.options[.fromFormerKey] ?? []))
        var merges: [(path: String, merge: Keychain.Merge)] = []
        for path in paths {
            merges.append(
                (path, try invocation.withProgress("Merging") { try keychain.merge(path, taking: taken, progress: $0) })
            )
        }
        let refusals = merges.filter { !$0.merge.refused.isEmpty }
        if refusals.isEmpty { try keychain.finishMerging() }
        if refusals.isEmpty || merges.contains(where: { !$0.merge.changed.isEmpty }) {
            let reports = merges.map { report($0.merge) }
            let json: JSONObject =
                invocation.arguments.count == 1 ? reports[0] : ["copies": reports, "files": merges.map(\.path)]
            _ = try invocation.finish(json: json) {
                merges.map { (path, merge) in
                    text(
                        merge, of: path, isOneOfSeveral: merges.count > 1,
                        isDeletable: isDeletable(path, besides: keychain.places.vault, invocation))
                }.joined()
            }
        }
        guard refusals.isEmpty else {
            let vault = keychain.places.vault
            let message = refusals.map { $0.merge.refusal(of: $0.path, mergedInto: vault) }.joined(separator: "\n")
            throw CommandError(code: "diverged", exit: .alarm, message: message)
        }
        return .success
    }

    private static func paths(_ invocation: Invocation) throws -> [String] {
        guard invocation.arguments.isEmpty else { return invocation.arguments }
        return CopiesBeside(try invocation.places().vault).files
    }

    private static func report(_ merge: Keychain.Merge) -> JSONObject {
        [
            "changed": merge.changed, "conflicts": merge.conflicts, "dropped": merge.dropped, "keys": merge.keys.name,
            "refused": merge.refused,
        ]
    }

    private static func text(_ merge: Keychain.Merge, of path: String, isOneOfSeveral: Bool, isDeletable: Bool)
        -> String
    {
        let title = isOneOfSeveral ? "\(StandardOutput.shown(path)):\n" : ""
        let isWhole = merge.refused.isEmpty && merge.dropped.isEmpty
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

extension Keychain.Merge {
    fileprivate var text: String {
        let count = Quantity.number(changed.count)
        let kept = Set(conflicts).subtracting(dropped)
        let nothing = refused.isEmpty ? "Nothing new in the other copy.\n" : ""
        return (changed.isEmpty ? nothing : "Merged: \(count) changed.\n")
            + list(
                conflicts.filter(kept.contains),
                "Changed on both sides; the later change counts, see `vault history`:\n")
            + list(dropped, "Changed on both sides; the other value is not kept:\n") + keys.advice
    }

    /// What was not taken over, why, and how it is.
    fileprivate func refusal(of copy: String, mergedInto vault: String) -> String {
        if refusesOwn { return refusal(of: vault, shutOutBy: copy) }
        let reason =
            isOfFormerKey
            ? "\(copy) is from before the data key was rotated here, so that somebody who was shut out by that may "
                + "have written it."
            : "In \(copy), changes are signed by somebody who is no member any more, or by nobody."
        return reason + " These were not taken over:" + CommandError.lines(refused)
            + "\nIf you know that one is right, take it over: vault merge --from-former-key NAME "
            + ShellQuoting.quoted(copy)
    }

    /// What is in the vault, and was left out by others.
    private func refusal(of vault: String, shutOutBy copy: String) -> String {
        let (vault, copy) = (ShellQuoting.quoted(vault), ShellQuoting.quoted(copy))
        return "Nothing was merged: \(copy) has shut somebody out, by a rotation of the data key or as a member. That "
            + "person may have written these in \(vault):" + CommandError.lines(refused)
            + "\nTo leave them out, merge the other way, `vault --vault \(copy) merge \(vault)`, and put \(copy) in "
            + "the vault's place. If you know that one is right, keep it: vault merge --from-former-key NAME \(copy)"
    }

    /// What became of what was changed while no server answered.
    var offlineText: String {
        let sides = "Changed by others too; the later change counts, see `vault history`:\n"
        let stored =
            if !changed.isEmpty {
                "Stored what was changed offline: \(Quantity.number(changed.count)) changed.\n"
            } else {
                refused.isEmpty ? "What was changed offline is in the vault already.\n" : ""
            }
        let text = stored + list(conflicts, sides)
        return keptAt.map { text + refusal(of: $0, mergedInto: "the vault") } ?? String(text.dropLast())
    }

    private func list(_ names: [String], _ title: String) -> String {
        names.isEmpty ? "" : title + names.map { "  \(StandardOutput.shown($0))\n" }.joined()
    }
}

extension MergeReport.Keys {
    fileprivate var name: String {
        switch self {
        case .same: "same"
        case .own: "of-this-copy"
        case .other: "of-other-copy"
        }
    }

    fileprivate var advice: String {
        switch self {
        case .same: ""
        case .own: "The copies have different keys. Those of this one count: see `vault key ls`.\n"
        case .other: "The copies have different keys. Those of the other one count now: see `vault key ls`.\n"
        }
    }
}

extension OptionDescription {
    static let detached = OptionDescription(
        name: .detached,
        help: "Do not compare the file with what this machine remembers, as for a copy in another place.")
}
