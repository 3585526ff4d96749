import SealedLog
import Vault

enum MergeCommand: Command {
    static let description = CommandDescription(
        name: .merge, summary: "take over what another copy of the vault has",
        arguments: [.init(name: "OTHER", completion: .file, help: "The other copy. It is only read.")],
        options: [.detached],
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
            Afterwards this file can take the place of both copies: machines that remember either one take it for the \
            later one. `vault setup git-merge` lets git merge vaults so.
            """,
        ],
        examples: [.init("vault merge default.sync-conflict.vault", "what Syncthing has left beside it")],
        exitCodes: [.init(.usage, "OTHER is no copy of this vault")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let merge = try invocation.withProgress("Merging") { try keychain.merge(invocation.name, progress: $0) }
        let report: JSONObject = [
            "changed": merge.changed, "conflicts": merge.conflicts, "dropped": merge.dropped, "keys": merge.keys.name,
        ]
        return try invocation.finish(json: report) { merge.text }
    }
}

extension Keychain.Merge {
    fileprivate var text: String {
        let count = Quantity.number(changed.count)
        let kept = Set(conflicts).subtracting(dropped)
        return (changed.isEmpty ? "Nothing new in the other copy.\n" : "Merged: \(count) changed.\n")
            + list(
                conflicts.filter(kept.contains),
                "Changed on both sides; the later change counts, see `vault history`:\n")
            + list(dropped, "Changed on both sides; the other value is not kept:\n") + keys.advice
    }

    /// What became of what was changed while no server answered.
    var offlineText: String {
        let sides = "Changed by others too; the later change counts, see `vault history`:\n"
        let stored =
            changed.isEmpty
            ? "What was changed offline is in the vault already.\n"
            : "Stored what was changed offline: \(Quantity.number(changed.count)) changed.\n"
        return String((stored + list(conflicts, sides)).dropLast())
    }

    private func list(_ names: [String], _ title: String) -> String {
        names.isEmpty ? "" : title + names.map { "  \(StandardOutput.shown($0))\n" }.joined()
    }
}

extension Keychain.Merge.Keys {
    fileprivate var name: String {
        switch self {
        case .same: "same"
        case .ofThisCopy: "of-this-copy"
        case .ofOtherCopy: "of-other-copy"
        }
    }

    fileprivate var advice: String {
        switch self {
        case .same: ""
        case .ofThisCopy: "The copies have different keys. Those of this one count: see `vault key ls`.\n"
        case .ofOtherCopy: "The data key was rotated in the other copy. Its keys count now: see `vault key ls`.\n"
        }
    }
}

extension OptionDescription {
    static let detached = OptionDescription(
        name: .detached,
        help: "Do not compare the file with what this machine remembers, as for a copy in another place.")
}
