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
            Afterwards this file can take the place of both copies: machines that remember either one take it for the \
            later one. `vault setup git-merge` lets git merge vaults so.
            """,
        ],
        examples: [.init("vault merge default.sync-conflict.vault", "what Syncthing has left beside it")],
        exitCodes: [.init(.usage, "OTHER is no copy of this vault")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let merge = try invocation.withProgress("Merging") { try keychain.merge(invocation.name, progress: $0) }
        return try invocation.finish(json: ["changed": merge.changed, "conflicts": merge.conflicts]) {
            let count = Quantity.number(merge.changed.count)
            let conflicts = merge.conflicts.map { "  \(StandardOutput.shown($0))\n" }.joined()
            return (merge.changed.isEmpty ? "Nothing new in the other copy.\n" : "Merged: \(count) changed.\n")
                + (conflicts.isEmpty ? "" : "Changed on both sides; `vault history` has the other value:\n" + conflicts)
        }
    }
}

extension OptionDescription {
    static let detached = OptionDescription(
        name: .detached,
        help: "Do not compare the file with what this machine remembers, as for a copy in another place.")
}
