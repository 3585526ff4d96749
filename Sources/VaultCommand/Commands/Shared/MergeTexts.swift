import Formats
import LinuxSystem
import SealedLog
import Vault

// The results of a merge as sentences, with advice on changes that were left out.

/// The names of the two copies of a merge, as messages show them.
struct MergedSides {
    let vault: String
    /// The path of the other copy, for use in commands.
    let copy: String
    /// The other copy's name, as the subject of a sentence.
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

    /// Returns the merge command that accepts a change to one entry. It contains the placeholder NAME, so that the user
    /// has to check each name: the change may have been made by a person whose access was removed.
    ///
    /// - Parameter names: the entry names that the message shows.
    func taking(_ names: [String]) -> String {
        let line = advised.line(
            "merge \(keptKeys)\(OptionName.fromFormerKey.spelling)=NAME \(AdvisedCommand.path(copy))")
        // Different names may look the same on a terminal, so the message adds an ASCII spelling of such names.
        let shown = names.map(\.forTerminal)
        let ambiguous = names.filter { name in
            shown.count { $0 == name.forTerminal } > 1 || !name.forTerminal.utf8.elementsEqual(name.utf8)
        }
        return line
            + ambiguous.map { "\nWrite \($0.forTerminal) as \(AdvisedCommand.word($0, inASCII: true))" }.joined()
    }

    /// Returns the merge command that keeps this vault's changes to the given entries.
    func keeping(_ names: [String]) -> String {
        advised.line("merge \(keptKeys)\(option(taken.map { $0 + names }))\(AdvisedCommand.path(copy))")
    }

    /// Returns the merge command that keeps the given keys of this vault.
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

    /// Returns instructions for merging without the given keys of this vault.
    func dropping(_ keys: [Keychain.VaultKeys.Key]) -> String {
        guard !isJoining else { return otherWay }
        let others = keys.filter { !$0.isInUse }
        if others.isEmpty { return "open the vault with another key, and merge again." }
        let drops = others.map { "\(OptionName.drop.spelling) \($0.number)" }.joined(separator: " ")
        return "drop them, and merge again:\n  \(advised.line("key rotate \(drops)"))\n"
            + "  \(advised.line("merge \(option(taken))\(AdvisedCommand.path(copy))"))"
    }

    /// The instructions to merge in the other direction, into the copy, which then replaces the vault.
    ///
    /// They contain no accept option, because by the time the user runs the command, a different file might be at the
    /// path. Only this machine can detect that such a file was rolled back, has diverged or was exchanged.
    var otherWay: String {
        guard ![vault, copy].contains(where: VaultLocation.isURL) else {
            return "merge in the other direction: \(advised.merge([vault], into: copy))"
        }
        let exchange = VaultExchange(of: vault, for: copy)
        return "replace the vault with the other copy, and merge the old vault into it:\n  \(exchange.moves)\n"
            + "  \(advised.merge([exchange.former]))\n  \(advised.line("ls"))\n"
            + "If the last command refuses the vault, it prints the option that accepts the vault. Use that option "
            + "only if you know who removed the access."
    }
}

extension CommandError {
    /// - Parameter paths: the paths of all copies to merge or, if one copy caused the error, only its path.
    init(_ error: VaultError, merging paths: [String], advising advised: AdvisedCommand) {
        self.init(error, advising: advised)
        for cause in error.causes {
            switch cause {
            case .keyWrong:
                // If one copy's key was replaced, no key opens both, so the new key must first be added to the other.
                message +=
                    "\nIf a key was replaced in one copy, the new key NEW must be added to the other copy, which the "
                    + "old key OLD opens. Of these commands, run the one that names the other copy:\n  "
                    + ([nil] + paths.map(Optional.some)).map {
                        // Without `--detached`, this machine would remember the copy, with removed keys, as the vault.
                        advised.withKeyFile("OLD").line(
                            "key add \($0 == nil ? "" : "\(OptionName.detached.spelling) ")--file NEW", of: $0)
                    }.joined(separator: "\n  ")
                    + "\nThen merge with the new key: \(advised.withKeyFile("NEW").merge(paths))"
            case .usedUpVault(let vault)
            where paths.count == 1 && ![vault, paths[0]].contains(where: VaultLocation.isURL):
                // Normal use never exhausts the sequence numbers, so a vault that has none left may be the wrong one.
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
            + list(dropped, "Changed in both copies; the other value was not kept:\n")
            + differences(advised) + keyChanges(advised) + removals(advised) + (isUnfinished ? unfinished : "")
    }

    private func differences(_ advised: AdvisedCommand) -> String {
        refusesOwn || !doubtedKeys.isEmpty
            ? "" : keys.advice(advised) + keyDifferences(advised) + memberDifferences
    }

    /// Whether the merge has changed anything that the report mentions.
    var isOfUse: Bool { !(changed.isEmpty && (removedKeys + lostKeys + addedKeys).isEmpty && members.removed.isEmpty) }

    /// Returns the lists of keys that open only one of the copies. A key may be in only one copy because users of the
    /// other copy removed it, or added it under a different label.
    private func keyDifferences(_ advised: AdvisedCommand) -> String {
        let here =
            "These keys open only this copy:\n\(keysOfVaultAlone.lines)If one of them was removed in the other copy, "
            + "drop it: `\(advised.line("key rotate \(OptionName.drop.spelling) NUMBER"))`\n"
        return (keysOfVaultAlone.isEmpty ? "" : here) + list(keysOfCopyAlone, "These keys open only the other copy:\n")
    }

    /// Returns the lists of keys that no longer open the vault, and of keys that now open it.
    private func keyChanges(_ advised: AdvisedCommand) -> String {
        list(
            removedKeys, "These keys were removed in one of the copies, so they no longer open this vault:\n",
            "Anyone who has one of them may have the data key. Rotate it: `\(advised.line("key rotate"))`\n"
                + "If someone removed a key without permission, add it again: `\(advised.line("key add"))`\n")
            + list(
                lostKeys, "These keys no longer open this vault. The new data key was created without them:\n",
                "Add those that should open it, except keys of users without access: `\(advised.line("key add"))`\n")
            + list(addedKeys, "These keys of the other copy now open this vault:\n")
    }

    /// Returns the names of the removed members, with a warning that they may still have keys.
    private func removals(_ advised: AdvisedCommand) -> String {
        guard !members.removed.isEmpty else { return "" }
        return
            "No longer members: \(members.removed.map(\.quoted).joined(separator: ", ")). "
            + "They can still open the vault with any key that they have: see `\(advised.line("key ls"))`, and drop or "
            + "replace such keys with `\(advised.line("key rotate"))`.\n"
    }

    /// The members who are in only one copy. A member who was removed in the other copy may have added them.
    private var memberDifferences: String {
        func list(_ names: [String], _ title: String) -> String {
            names.isEmpty ? "" : "\(title): \(names.map(\.quoted).joined(separator: ", ")).\n"
        }
        return list(members.hereAlone, "Members only in this copy")
            + list(members.thereAlone, "Members only in the other copy")
    }

    /// Lists the keys of someone who may have lost access in the other copy, and says how to keep or drop them.
    private func refusalOfKeys(_ sides: MergedSides) -> String {
        "Nothing was merged. \(sides.shownCopy) lacks these keys of \(sides.vault). "
            + "Someone who has one of these keys may have lost access in that copy:\n\(doubtedKeys.lines)"
            + "If you know that they should open the vault, keep them: \(sides.keeping(doubtedKeys))\n"
            + "To leave them out, \(sides.dropping(doubtedKeys))"
    }

    /// Returns a message with the changes that the merge refused, the reason, and the command that accepts them.
    func refusal(of sides: MergedSides) -> String {
        if !doubtedKeys.isEmpty { return refusalOfKeys(sides) }
        if refusesOwn { return refusalOfOwn(sides) }
        let reason =
            isOfFormerKey
            ? "\(sides.shownCopy) predates the rotation of the data key here, or was rotated separately, so someone "
                + "who no longer has access may have written it."
            : "\(sides.shownCopy) contains changes that are unsigned, or signed by someone who is no longer a member."
        return reason + refusals("These changes were not accepted:", "These removals were not accepted:")
            + "\nIf you know that one of these changes is right, accept it: \(sides.taking(shownRefusals))"
    }

    /// Lists refused names, and removals separately, because "(removed)" after a name could be part of the name.
    private func refusals(_ values: String, _ removals: String) -> String {
        func list(_ names: [String], _ title: String) -> String {
            names.isEmpty ? "" : "\n\(title)\(CommandError.lines(names))"
        }
        return list(refused.filter { !isRefusedRemoval($0) }, values) + list(refused.filter(isRefusedRemoval), removals)
    }

    private func isRefusedRemoval(_ name: String) -> Bool { EntryName(name).map(refusedRemovals.contains) == true }

    /// The refused names that ``refusals(_:_:)`` shows, in two lists of at most 50 names each.
    private var shownRefusals: [String] {
        Array(refused.filter { !isRefusedRemoval($0) }.prefix(50) + refused.filter(isRefusedRemoval).prefix(50))
    }

    /// Lists this vault's changes that may have been made by someone whose access was removed in the other copy.
    private func refusalOfOwn(_ sides: MergedSides) -> String {
        "Nothing was merged. \(sides.shownCopy) records that someone lost access: its data key was rotated, or a "
            + "member was removed."
            + refusals(
                "They may have written these in \(sides.vault):", "They may have removed these in \(sides.vault):")
            + "\nIf you know that these changes are right, for example if you made them offline, keep them: "
            + "\(sides.keeping(refused))\nTo leave them out, \(sides.otherWay)"
    }

    /// Returns the report on changes that were made while the server was unreachable.
    func offlineText(_ vault: String, _ advised: AdvisedCommand) -> String {
        let sides = "Also changed by others; the later change wins (see `\(advised.line("history"))`):\n"
        let known = refused.isEmpty && conflicts.isEmpty ? "The vault already has the offline changes.\n" : ""
        let count = Quantity.number(changed.count)
        let stored = changed.isEmpty ? known : "Stored the offline changes. Entries changed: \(count).\n"
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
