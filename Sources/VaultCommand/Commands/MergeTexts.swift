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

    init(vault: String, copy: String, shownCopy: String? = nil, advised: AdvisedCommand) {
        (self.vault, self.copy, self.shownCopy, self.advised) = (vault, copy, shownCopy ?? copy, advised)
    }

    /// The command that takes a name over. Which one, a person has to say: somebody else may have changed it.
    fileprivate var taking: String {
        advised.line("merge \(OptionName.fromFormerKey.spelling) NAME \(ShellQuoting.quoted(copy))")
    }

    /// Returns the command that keeps names of this machine's own vault.
    fileprivate func keeping(_ names: [String]) -> String {
        let option =
            names.count > 50
            ? OptionName.allFromFormerKey.spelling
            : names.map { "\(OptionName.fromFormerKey.spelling) \(ShellQuoting.quoted($0))" }.joined(separator: " ")
        return advised.line("merge \(option) \(ShellQuoting.quoted(copy))")
    }

    /// How the vault is merged into the other copy, which has its place then.
    fileprivate var otherWay: String {
        guard !VaultPlaces.isURL(vault) else { return "merge the other way: \(advised.merge([vault], into: copy))" }
        let former = "\(vault).before"
        let quoted = [vault, former, copy].map { ShellQuoting.quoted($0) }
        return "put the other copy in the vault's place: "
            + "ln \(quoted[0]) \(quoted[1]) && mv -f \(quoted[2]) \(quoted[0]) && "
            + advised.line("merge \(OptionName.acceptDiverged.spelling) \(quoted[1])")
    }
}

/// A merge by git, whose driver gets both sides in temporary files. git removes them: messages name the vault by its
/// path in the repository, and say how to get the other side.
struct GitConflict {
    private let vault: String
    private let side: GitSide
    private let advised: AdvisedCommand
    /// The temporary files, and what messages call them.
    private let names: [(temporary: String, shown: String)]

    /// - Parameter path: in the repository, in whose folder git runs its driver.
    init(of path: String, _ invocation: Invocation) {
        vault = absolutePath(path)
        side = GitSide(":3", of: vault)
        advised = AdvisedCommand(invocation).of(vault)
        let pairs = [(invocation.value(of: .vault) ?? "", vault), (invocation.arguments.first ?? "", side.file)]
        names = pairs.filter { !$0.0.isEmpty }.flatMap { temporary, shown in
            [(absolutePath(temporary), shown), (temporary, shown)]
        }
    }

    var sides: MergedSides {
        MergedSides(vault: vault, copy: side.file, shownCopy: "The other side of \(vault)", advised: advised)
    }

    /// Returns an error whose commands work once git has left the conflict.
    func told(_ error: CommandError) -> CommandError {
        var error = error
        for (temporary, shown) in names { error.message = error.message.replacing(temporary, with: shown) }
        error.message +=
            "\nThis is a conflict now. First write the other side to a file: \(side.command)\n"
            + "Once it can be merged: \(advised.merge([side.file])), and tell git: git -C "
            + "\(ShellQuoting.quoted(vault.parentFolder)) add \(ShellQuoting.quoted("./" + vault.lastPathComponent))"
        return error
    }
}

extension Keychain.Merge {
    var text: String {
        let count = Quantity.number(changed.count)
        let kept = Set(conflicts).subtracting(dropped)
        let nothing = refused.isEmpty ? "Nothing new in the other copy.\n" : ""
        let unfinished = "The other copy ends within a change. It may still be copied: merge it again later.\n"
        return (changed.isEmpty ? nothing : "Merged: \(count) changed.\n")
            + list(
                conflicts.filter(kept.contains),
                "Changed on both sides; the later change counts, see `vault history`:\n")
            + list(dropped, "Changed on both sides; the other value is not kept:\n") + keys.advice
            + (isUnfinished ? unfinished : "")
    }

    /// What was not taken over, why, and how it is.
    func refusal(of sides: MergedSides) -> String {
        if refusesOwn { return refusalOfOwn(sides) }
        let reason =
            isOfFormerKey
            ? "\(sides.shownCopy) is from before the data key was rotated here, so that somebody who was shut out by "
                + "that may have written it."
            : "In \(sides.shownCopy), changes are signed by somebody who is no member any more, or by nobody."
        return reason + " These were not taken over:" + CommandError.lines(refused)
            + "\nIf you know that one is right, take it over: \(sides.taking)"
    }

    /// What is in the vault, and was left out by others.
    private func refusalOfOwn(_ sides: MergedSides) -> String {
        "Nothing was merged: \(sides.shownCopy) has shut somebody out, by a rotation of the data key or as a member. "
            + "That person may have written these in \(sides.vault):" + CommandError.lines(refused)
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
                refused.isEmpty ? "What was changed offline is in the vault already.\n" : ""
            }
        let text = stored + list(conflicts, sides)
        return keptAt.map { text + refusal(of: MergedSides(vault: vault, copy: $0, advised: advised)) }
            ?? String(text.dropLast())
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
