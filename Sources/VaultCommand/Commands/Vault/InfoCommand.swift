import SealedLog
import Vault

enum InfoCommand: Command {
    static let description = CommandDescription(
        name: .info, section: .vault, changesNothing: true, summary: "show the vault's location and state",
        details: "Shows nothing secret except the labels of keys, which the vault stores sealed.")

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let information = try keychain.maintenance.information()
        let keys = try keychain.vaultKeys.all()
        let dropBox = try keychain.dropBox.recipient()
        let isKeptApart = keychain.copies.isKeptApart
        return try invocation.finish(
            json: report(information, keys, dropBox, keychain.copies.keptCopy).adding("pending", isKeptApart)
        ) {
            var copy = keychain.copies.keptCopy.map { [("Copy here", $0.line)] } ?? []
            if isKeptApart { copy.append(("Changes", "on this machine only, until the server is reachable")) }
            return TextLayout.table(rows(information, keys) + [("Drop box", dropBox)] + copy)
        }
    }

    private static func rows(
        _ information: Keychain.Maintenance.Information, _ keys: [Keychain.VaultKeys.Key]
    ) -> [(String, String)] {
        let keys = keys.map { ("Key \($0.number)", $0.line) }
        let live = Quantity.size(information.liveBytes)
        let dead = Quantity.size(information.deadBytes)
        let sharing = information.keyFileSharing.map { " (\($0))" } ?? ""
        let notLocked = "not locked: may be swapped out; raise `ulimit -l`"
        return [
            ("Vault", StandardOutput.shown(information.vault)),
            ("Key file", StandardOutput.shown(information.keyFile) + sharing),
            ("ID", information.id),
            ("Created", Timestamp.text(information.created)),
            ("Entries", Quantity.number(information.entries)),
            ("Last change", Quantity.number(information.sequence)),
            ("Size", "\(Quantity.size(information.fileSize)) (\(live) in use, \(dead) outdated)"),
            ("Records", "\(Quantity.number(information.recordsSinceCheckpoint)) since the last compaction"),
        ] + keys + [
            ("Rollback memory", information.memoryIsKept ? "kept" : "not kept: a rollback would not be detected"),
            ("Keys in memory", information.keysAreLockedInMemory ? "locked" : notLocked),
        ] + information.problems.map { ("Problem", StandardOutput.shown($0)) }
    }

    private static func report(
        _ information: Keychain.Maintenance.Information, _ keys: [Keychain.VaultKeys.Key], _ dropBox: String,
        _ copy: KeptCopy?
    ) -> JSONObject {
        [
            "vault": information.vault, "key_file": information.keyFile,
            "key_file_sharing": information.keyFileSharing, "id": information.id,
            "created": Timestamp.text(information.created), "sequence": information.sequence,
            "entries": information.entries, "file_size": information.fileSize, "live_bytes": information.liveBytes,
            "dead_bytes": information.deadBytes, "records_since_checkpoint": information.recordsSinceCheckpoint,
            "keys": keys.map(\.report), "drop_box": dropBox, "history_versions": information.history.versions,
            "history_days": information.history.days, "memory_is_kept": information.memoryIsKept,
            "problems": information.problems, "copy": copy?.path, "copy_is_complete": copy?.isComplete,
            "keys_are_locked_in_memory": information.keysAreLockedInMemory,
        ]
    }
}
