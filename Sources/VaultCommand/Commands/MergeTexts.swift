import Formats
import LinuxSystem
import SealedLog
import Vault

// What a merge has done, in sentences; and what is advised where something was left out.

/// What messages call the two sides of a merge.
struct MergedSides {
    let vault: String
    /// The path of the other copy, for commands.
    let copy: String
    /// The other copy, as the subject of a sentence.
    let shownCopy: String
    let advised: AdvisedCommand
    /// The names that the command line has taken over already; nil for all.
    var taken: [String]? = []
    /// The numbers of the keys that it has kept.
    var kept: [String] = []
    /// Whether the vault raises an alarm, so that it can only be merged.
    var isJoining = false

    init(vault: String, copy: String, shownCopy: String? = nil, advised: AdvisedCommand) {
        (self.vault, self.copy, self.shownCopy, self.advised) = (vault, copy, shownCopy ?? copy, advised)
    }

    /// Returns the command that takes a name over. Which one, a person has to say: somebody else may have changed it.
    ///
    /// - Parameter names: those that are shown.
    func taking(_ names: [String]) -> String {
        let line = advised.line(
            "merge \(keptKeys)\(OptionName.fromFormerKey.spelling)=NAME \(AdvisedCommand.path(copy))")
        // Two names may look the same, also where nothing is hidden.
        let shown = names.map(\.forTerminal)
        let ambiguous = names.filter { name in
            shown.count { $0 == name.forTerminal } > 1 || !name.forTerminal.utf8.elementsEqual(name.utf8)
        }
        return line
            + ambiguous.map { "\nWrite \($0.forTerminal) as \(AdvisedCommand.word($0, inASCII: true))" }.joined()
    }

    /// Returns the command that keeps names of this machine's own vault.
    func keeping(_ names: [String]) -> String {
        advised.line("merge \(keptKeys)\(option(taken.map { $0 + names }))\(AdvisedCommand.path(copy))")
    }

    /// Returns the command that keeps keys of this machine's own vault.
    func keeping(_ keys: [Keychain.Key]) -> String {
        var sides = self
        sides.kept += keys.map { String($0.number) }
        return advised.line("merge \(sides.keptKeys)\(option(taken))\(AdvisedCommand.path(copy))")
    }

    private var keptKeys: String { kept.map { "\(OptionName.keep.spelling) \($0) " }.joined() }

    private func option(_ names: [String]?) -> String {
        guard let names, names.count <= 50 else { return OptionName.allFromFormerKey.spelling + " " }
        return names.map { AdvisedCommand.option(OptionName.fromFormerKey.spelling, $0) + " " }.joined()
    }

    /// How keys of the vault are left out of what is merged.
    func dropping(_ keys: [Keychain.Key]) -> String {
        guard !isJoining else { return otherWay }
        let others = keys.filter { !$0.isInUse }
        if others.isEmpty { return "open the vault by another key, and merge again." }
        let drops = others.map { "\(OptionName.drop.spelling) \($0.number)" }.joined(separator: " ")
        return "drop them, and merge again:\n  \(advised.line("key rotate \(drops)"))\n"
            + "  \(advised.line("merge \(option(taken))\(AdvisedCommand.path(copy))"))"
    }

    /// How the vault is merged into the other copy, which has its place then.
    ///
    /// No option that accepts anything is advised: the file in the place may be another by then, and this machine
    /// alone knows which alarm it raises, if any.
    var otherWay: String {
        guard ![vault, copy].contains(where: VaultLocation.isURL) else {
            return "merge the other way: \(advised.merge([vault], into: copy))"
        }
        let exchange = VaultExchange(of: vault, for: copy)
        return "put the other copy in the vault's place, and merge what is left:\n  \(exchange.moves)\n"
            + "  \(advised.merge([exchange.former]))\n  \(advised.line("ls"))\n"
            + "If the last one raises an alarm, it names the option that accepts the vault. Use it only if you know who "
            + "has shut somebody out."
    }
}

extension CommandError {
    /// - Parameter paths: of the copies that were to be merged, or of the one that it concerns.
    init(_ error: VaultError, merging paths: [String], advising advised: AdvisedCommand) {
        self.init(error, advising: advised)
        for cause in error.causes {
            switch cause {
            case .keyWrong:
                // No command line has both keys.
                message +=
                    "\nIf a key was replaced in one of the two, add the new key to the other one, which OLD opens:\n  "
                    + ([nil] + paths.map(Optional.some)).map {
                        advised.withKeyFile("OLD").line("key add --file NEW", of: $0)
                    }.joined(separator: "\n  ")
                    + "\nIf that raises an alarm, the copy is another machine's: add the key there."
                    + "\nThen merge with the new key: \(advised.withKeyFile("NEW").merge(paths))"
            case .usedUpVault(let vault)
            where paths.count == 1 && ![vault, paths[0]].contains(where: VaultLocation.isURL):
                // No honest machine comes to that: the vault in the place may be the wrong one.
                let moves = VaultExchange(of: vault, for: paths[0]).moves
                message += "\nIf \(paths[0]) is right, put it in the vault's place instead: \(moves)"
            default: break
            }
        }
    }
}

extension Keychain.Merge {
    var text: String {
        let count = Quantity.number(changed.count)
        let kept = Set(conflicts).subtracting(dropped)
        let nothing = isWhole ? "Nothing new in the other copy.\n" : ""
        let unfinished = "The other copy ends within a change. It may still be copied: merge it again later.\n"
        return (changed.isEmpty ? nothing : "Merged: \(count) changed.\n")
            + list(
                conflicts.filter(kept.contains),
                "Changed on both sides; the later change counts, see `vault history`:\n")
            + list(dropped, "Changed on both sides; the other value is not kept:\n")
            + differences + keyChanges + removals + (isUnfinished ? unfinished : "")
    }

    private var differences: String {
        refusesOwn || !doubtedKeys.isEmpty ? "" : keys.advice + keyDifferences + memberDifferences
    }

    /// Whether it has done something that is told.
    var isOfUse: Bool { !(changed.isEmpty && keyChanges.isEmpty && removals.isEmpty) }

    /// Which keys open one of the copies alone. Somebody may have removed one in the other copy who did not know that
    /// it was kept, or added under another label here.
    private var keyDifferences: String {
        let here =
            "These keys open this copy alone:\n\(keysOfVaultAlone.lines)If one of them was removed in the other copy, "
            + "drop it: `vault key rotate \(OptionName.drop.spelling) NUMBER`\n"
        return (keysOfVaultAlone.isEmpty ? "" : here) + list(keysOfCopyAlone, "These keys open the other copy alone:\n")
    }

    /// Which keys open the vault no more, and which do now.
    private var keyChanges: String {
        list(
            removedKeys, "These keys were removed in one of the copies, so that they do not open this one:\n",
            "Whoever has one of them may have the data key. Rotate it: `vault key rotate`\n"
                + "If one was removed by somebody who had no right to, add it again: `vault key add`\n")
            + list(
                lostKeys, "These keys open this copy no more, since its new data key was made without them:\n",
                "Add again each that is to open it, but of nobody who was shut out: `vault key add`\n")
            + list(addedKeys, "These keys of the other copy open this one now:\n")
    }

    /// Names those who are members no more, since they may have keys.
    private var removals: String {
        guard !members.removed.isEmpty else { return "" }
        return
            "No member any more: \(members.removed.map(\.quoted).joined(separator: ", ")). "
            + "Whoever opens the vault by a key that they may have can still do so: see `vault key ls`, and drop or replace such keys with "
            + "`vault key rotate`.\n"
    }

    /// Who is a member in one of the copies alone. Somebody may have added them who was removed in the other one.
    private var memberDifferences: String {
        func list(_ names: [String], _ title: String) -> String {
            names.isEmpty ? "" : "\(title): \(names.map(\.quoted).joined(separator: ", ")).\n"
        }
        return list(members.hereAlone, "Members of this copy alone")
            + list(members.thereAlone, "Members of the other copy alone")
    }

    /// Which keys somebody may have who was shut out of the other copy, and what to do about them.
    private func refusalOfKeys(_ sides: MergedSides) -> String {
        "Nothing was merged: these keys open \(sides.vault), and under these names none opens \(sides.shownCopy). "
            + "Somebody may have been shut out there who has one of them:\n\(doubtedKeys.lines)"
            + "If you know that they are to open the vault, keep them: \(sides.keeping(doubtedKeys))\n"
            + "To leave them out, \(sides.dropping(doubtedKeys))"
    }

    /// What was not taken over, why, and how it is.
    func refusal(of sides: MergedSides) -> String {
        if !doubtedKeys.isEmpty { return refusalOfKeys(sides) }
        if refusesOwn { return refusalOfOwn(sides) }
        let reason =
            isOfFormerKey
            ? "\(sides.shownCopy) is from before the data key was rotated here, or was rotated apart, so that somebody "
                + "who was shut out may have written it."
            : "In \(sides.shownCopy), changes are signed by somebody who is no member any more, or by nobody."
        return reason + refusals("These were not taken over:", "These removals were not taken over:")
            + "\nIf you know that one of these names is right, take it over: \(sides.taking(shownRefusals))"
    }

    /// Names what was refused. Which names are removed is told apart from the names: they may end in any words.
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

    /// What is in the vault, and was left out by others.
    private func refusalOfOwn(_ sides: MergedSides) -> String {
        "Nothing was merged: \(sides.shownCopy) has shut somebody out, by a rotation of the data key or as a member."
            + refusals(
                "That person may have written these in \(sides.vault):",
                "That person may have removed these in \(sides.vault):")
            + "\nIf you know that they are right, such as changes of your own while you were offline, keep them: "
            + "\(sides.keeping(refused))\nTo leave them out, \(sides.otherWay)"
    }

    /// Tells what became of what was changed while no server answered.
    func offlineText(_ vault: String, _ advised: AdvisedCommand) -> String {
        let sides = "Changed by others too; the later change counts, see `vault history`:\n"
        let stored =
            if !changed.isEmpty {
                "Stored what was changed offline: \(Quantity.number(changed.count)) changed.\n"
            } else {
                refused.isEmpty && conflicts.isEmpty ? "What was changed offline is in the vault already.\n" : ""
            }
        let text = stored + list(conflicts, sides)
        return keptAt.map { text + refusal(of: MergedSides(vault: vault, copy: $0, advised: advised)) }
            ?? String(text.dropLast())
    }

    private func list(_ keys: [Keychain.Key], _ title: String, _ advice: String = "") -> String {
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

    fileprivate var advice: String {
        switch self {
        case .same: ""
        case .own: "The copies have different keys. Those of this one count: see `vault key ls`.\n"
        case .other: "The copies have different keys. Those of the other one count now: see `vault key ls`.\n"
        }
    }
}
