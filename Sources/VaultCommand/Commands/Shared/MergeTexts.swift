import Formats
import LinuxSystem
import SealedLog
import Vault

// The results of a merge as sentences, with advice on changes that were left out.

/// The names that messages use for the two copies in a merge.
struct MergedSides {
    let vault: String
    /// The path of the other copy, for use in commands.
    let copy: String
    /// The other copy, as the subject of a sentence.
    let shownCopy: String
    let advised: AdvisedCommand
    /// The names given with `--from-former-key` on this command line; nil if `--all-from-former-key` is given.
    var taken: [String]? = []
    /// The numbers of the keys given with `--keep` on this command line.
    var kept: [String] = []
    /// Whether the vault was opened only for this merge, because it lacks changes that this machine remembers.
    var isJoining = false

    init(vault: String, copy: String, shownCopy: String? = nil, advised: AdvisedCommand) {
        self.vault = vault
        self.copy = copy
        self.shownCopy = shownCopy ?? copy
        self.advised = advised
    }

    /// Returns the merge command that accepts the change to an entry. The user must check each name and insert it for
    /// NAME, because a person whose access has been removed may have made the change.
    ///
    /// - Parameter names: the entry names that the message shows.
    func taking(_ names: [String]) -> String {
        let line = advised.line(
            "merge \(keptKeys)\(OptionName.fromFormerKey.spelling)=NAME \(AdvisedCommand.path(copy))")
        // Different names may look the same on a terminal, even if they contain no invisible characters.
        let shown = names.map(\.forTerminal)
        let ambiguous = names.filter { name in
            shown.count { $0 == name.forTerminal } > 1 || !name.forTerminal.utf8.elementsEqual(name.utf8)
        }
        return line
            + ambiguous.map { "\nWrite \($0.forTerminal) as \(AdvisedCommand.word($0, inASCII: true))" }.joined()
    }

    /// Returns the command that keeps this vault's changes to the entries `names`.
    func keeping(_ names: [String]) -> String {
        advised.line("merge \(keptKeys)\(option(taken.map { $0 + names }))\(AdvisedCommand.path(copy))")
    }

    /// Returns the command that keeps these keys of the vault.
    func keeping(_ keys: [Keychain.VaultKeys.Key]) -> String {
        var sides = self
        sides.kept += keys.map { String($0.number) }
        return advised.line("merge \(sides.keptKeys)\(option(taken))\(AdvisedCommand.path(copy))")
    }

    private var keptKeys: String { kept.map { "\(OptionName.keep.spelling) \($0) " }.joined() }

    private func option(_ names: [String]?) -> String {
        guard let names, names.count <= 50 else { return OptionName.allFromFormerKey.spelling + " " }
        return names.map { AdvisedCommand.option(OptionName.fromFormerKey.spelling, $0) + " " }.joined()
    }

    /// Returns the instruction for leaving these keys of the vault out of the merge.
    func dropping(_ keys: [Keychain.VaultKeys.Key]) -> String {
        guard !isJoining else { return otherWay }
        let others = keys.filter { !$0.isInUse }
        if others.isEmpty { return "open the vault with another key, and merge again." }
        let drops = others.map { "\(OptionName.drop.spelling) \($0.number)" }.joined(separator: " ")
        return "drop them, and merge again:\n  \(advised.line("key rotate \(drops)"))\n"
            + "  \(advised.line("merge \(option(taken))\(AdvisedCommand.path(copy))"))"
    }

    /// The instruction to merge in the other direction, into the copy, which then replaces the vault.
    ///
    /// The instruction contains no accept option, because a different file may be at the path when the user runs the
    /// command. Only this machine can determine whether that file was rolled back, has diverged or was exchanged.
    var otherWay: String {
        guard ![vault, copy].contains(where: VaultLocation.isURL) else {
            return "merge in the other direction: \(advised.merge([vault], into: copy))"
        }
        let exchange = VaultExchange(of: vault, for: copy)
        return "replace the vault with the other copy, and merge the old vault into it:\n  \(exchange.moves)\n"
            + "  \(advised.merge([exchange.former]))\n  \(advised.line("ls"))\n"
            + "If the last command refuses the vault, it prints the option that accepts the vault. Use it only "
            + "if you know who has removed someone's access."
    }
}

extension CommandError {
    /// - Parameter paths: the paths of the copies to merge, or of the copy with the error.
    init(_ error: VaultError, merging paths: [String], advising advised: AdvisedCommand) {
        self.init(error, advising: advised)
        for cause in error.causes {
            switch cause {
            case .keyWrong:
                // No single command can open both copies, so the advice first adds the new key to the other copy.
                message +=
                    "\nIf a key was replaced in one copy, the new key NEW must be added to the other copy, which the "
                    + "old key OLD opens. Run the command that names the other copy:\n  "
                    + ([nil] + paths.map(Optional.some)).map {
                        // This machine must not take the copy for the vault itself, whose removed keys would return.
                        advised.withKeyFile("OLD").line(
                            "key add \($0 == nil ? "" : "\(OptionName.detached.spelling) ")--file NEW", of: $0)
                    }.joined(separator: "\n  ")
                    + "\nThen merge with the new key: \(advised.withKeyFile("NEW").merge(paths))"
            case .usedUpVault(let vault)
            where paths.count == 1 && ![vault, paths[0]].contains(where: VaultLocation.isURL):
                // No honest machine produces this state, so the vault at this path may be the wrong one.
                let moves = VaultExchange(of: vault, for: paths[0]).moves
                message += "\nIf \(paths[0]) is the right vault, replace this one with it: \(moves)"
            default: break
            }
        }
    }
}

extension Keychain.Copies.Merge {
    func text(_ advised: AdvisedCommand) -> String {
        let count = Quantity.number(changed.count)
        let kept = Set(conflicts).subtracting(dropped)
        let nothing = isWhole ? "The other copy has nothing new.\n" : ""
        let unfinished = "The other copy is incomplete, perhaps still being copied. Merge it again later.\n"
        return (changed.isEmpty ? nothing : "Merged: \(count) changed.\n")
            + list(
                conflicts.filter(kept.contains),
                "Changed in both copies; the later change wins (see `\(advised.line("history"))`):\n")
            + list(dropped, "Changed in both copies; the other value is not kept:\n")
            + differences(advised) + keyChanges(advised) + removals(advised) + (isUnfinished ? unfinished : "")
    }

    private func differences(_ advised: AdvisedCommand) -> String {
        refusesOwn || !doubtedKeys.isEmpty
            ? "" : keys.advice(advised) + keyDifferences(advised) + memberDifferences
    }

    /// Whether the merge has changed anything that is reported.
    var isOfUse: Bool { !(changed.isEmpty && (removedKeys + lostKeys + addedKeys).isEmpty && members.removed.isEmpty) }

    /// The lists of keys that open only one of the copies. Users of the other copy may have removed a key that was kept
    /// here, or added it under another label.
    private func keyDifferences(_ advised: AdvisedCommand) -> String {
        let here =
            "These keys open only this copy:\n\(keysOfVaultAlone.lines)If one of them was removed in the other copy, "
            + "drop it: `\(advised.line("key rotate \(OptionName.drop.spelling) NUMBER"))`\n"
        return (keysOfVaultAlone.isEmpty ? "" : here) + list(keysOfCopyAlone, "These keys open only the other copy:\n")
    }

    /// The lists of keys that no longer open the vault, and of keys that now open it.
    private func keyChanges(_ advised: AdvisedCommand) -> String {
        list(
            removedKeys, "These keys were removed in one of the copies, so they no longer open this vault:\n",
            "Anyone who has one of them may have the data key. Rotate it: `\(advised.line("key rotate"))`\n"
                + "If someone removed a key without the right to do so, add it again: `\(advised.line("key add"))`\n")
            + list(
                lostKeys, "These keys no longer open this vault, since the new data key was created without them:\n",
                "Add those that should open it, except keys of users without access: `\(advised.line("key add"))`\n")
            + list(addedKeys, "These keys of the other copy now open this vault:\n")
    }

    /// The names of the removed members, who may still have keys.
    private func removals(_ advised: AdvisedCommand) -> String {
        guard !members.removed.isEmpty else { return "" }
        return
            "No longer members: \(members.removed.map(\.quoted).joined(separator: ", ")). "
            + "They can still open the vault with any key that they have: see `\(advised.line("key ls"))`, and drop or "
            + "replace such keys with `\(advised.line("key rotate"))`.\n"
    }

    /// The members of only one copy. A member who was removed in the other copy may have added them.
    private var memberDifferences: String {
        func list(_ names: [String], _ title: String) -> String {
            names.isEmpty ? "" : "\(title): \(names.map(\.quoted).joined(separator: ", ")).\n"
        }
        return list(members.hereAlone, "Members only in this copy")
            + list(members.thereAlone, "Members only in the other copy")
    }

    /// Returns the list of keys that may belong to a person removed in the other copy, and how to keep or drop them.
    private func refusalOfKeys(_ sides: MergedSides) -> String {
        "Nothing was merged: these keys open \(sides.vault), but no key with their names opens \(sides.shownCopy). "
            + "Someone who has one of them may have been removed there:\n\(doubtedKeys.lines)"
            + "If you know that they should open the vault, keep them: \(sides.keeping(doubtedKeys))\n"
            + "To leave them out, \(sides.dropping(doubtedKeys))"
    }

    /// Returns the list of changes that the merge left out, with the reason and the command that accepts these changes.
    func refusal(of sides: MergedSides) -> String {
        if !doubtedKeys.isEmpty { return refusalOfKeys(sides) }
        if refusesOwn { return refusalOfOwn(sides) }
        let reason =
            isOfFormerKey
            ? "\(sides.shownCopy) is from before the data key was rotated here, or was rotated separately, so someone "
                + "who no longer has access may have written it."
            : "\(sides.shownCopy) contains changes that are unsigned, or signed by someone who is no longer a member."
        return reason + refusals("These changes were not accepted:", "These removals were not accepted:")
            + "\nIf you know that one of these names is right, accept it: \(sides.taking(shownRefusals))"
    }

    /// Lists the refused names. Removals have their own list, since a mark after a name could be part of the name.
    private func refusals(_ values: String, _ removals: String) -> String {
        func list(_ names: [String], _ title: String) -> String {
            names.isEmpty ? "" : "\n\(title)\(CommandError.lines(names))"
        }
        return list(refused.filter { !isRefusedRemoval($0) }, values) + list(refused.filter(isRefusedRemoval), removals)
    }

    private func isRefusedRemoval(_ name: String) -> Bool { EntryName(name).map(refusedRemovals.contains) == true }

    /// The names that ``refusals(_:_:)`` shows.
    private var shownRefusals: [String] {
        Array(refused.filter { !isRefusedRemoval($0) }.prefix(50) + refused.filter(isRefusedRemoval).prefix(50))
    }

    /// Returns the list of changes in the vault that may have been made by a person removed in the other copy.
    private func refusalOfOwn(_ sides: MergedSides) -> String {
        "Nothing was merged: \(sides.shownCopy) has removed someone's access, by rotating the data key or removing a "
            + "member."
            + refusals(
                "They may have written these in \(sides.vault):", "They may have removed these in \(sides.vault):")
            + "\nIf you know that these changes are right, for example if you made them offline, keep them: "
            + "\(sides.keeping(refused))\nTo leave them out, \(sides.otherWay)"
    }

    /// Returns the report on the changes that were made while the server was unreachable.
    func offlineText(_ vault: String, _ advised: AdvisedCommand) -> String {
        let sides = "Also changed by others; the later change wins (see `\(advised.line("history"))`):\n"
        let known = refused.isEmpty && conflicts.isEmpty ? "The vault already has the offline changes.\n" : ""
        let count = Quantity.number(changed.count)
        let stored = changed.isEmpty ? known : "Stored the offline changes: \(count) changed.\n"
        let text = stored + list(conflicts, sides)
        return keptAt.map { text + refusal(of: MergedSides(vault: vault, copy: $0, advised: advised)) }
            ?? String(text.dropLast())
    }

    private func list(_ keys: [Keychain.VaultKeys.Key], _ title: String, _ advice: String = "") -> String {
        keys.isEmpty ? "" : title + keys.map { "  \($0.line)\n" }.joined() + advice
    }

    private func list(_ names: [String], _ title: String) -> String {
        names.isEmpty ? "" : title + names.map { "  \(StandardOutput.shown($0))\n" }.joined()
    }
}

extension MergeReport.Keys {
    var name: String {
        switch self {
        case .same: "same"
        case .own: "of-this-copy"
        case .other: "of-other-copy"
        }
    }

    fileprivate func advice(_ advised: AdvisedCommand) -> String {
        let list = "`\(advised.line("key ls"))`"
        return switch self {
        case .same: ""
        case .own: "The copies have different keys. Those of this copy were kept: see \(list).\n"
        case .other: "The copies have different keys. Those of the other copy were adopted: see \(list).\n"
        }
    }
}
