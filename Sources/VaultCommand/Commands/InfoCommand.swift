import SealedLog
import Vault

enum InfoCommand: Command {
    static let description = CommandDescription(
        name: .info, summary: "show the vault's location and state",
        details: ["Nothing shown is secret, except the labels of keys, which the vault stores sealed."])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let information = try invocation.openVault().information()
        return try invocation.finish(json: report(information)) { TextLayout.table(rows(information)) }
    }

    private static func rows(_ information: Keychain.Information) -> [(String, String)] {
        let keys = information.keySlots.map { slot in
            let label = slot.label.isEmpty ? "" : " \"\(StandardOutput.shown(slot.label))\""
            let cost = slot.cost.map { " (\($0.passes) passes, \(Quantity.size($0.memory)))" } ?? ""
            return ("Key", "\(slot.kind)\(cost)\(label), since \(Timestamp.text(slot.created))")
        }
        let (live, dead) = (Quantity.size(information.liveBytes), Quantity.size(information.deadBytes))
        let sharing = information.keyFileSharing.map { " (\($0))" } ?? ""
        let notLocked = "not locked: may be swapped out, see `ulimit -l`"
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
            ("Rollback memory", information.memoryIsKept ? "kept" : "not kept: an older file would not be noticed"),
            ("Keys in memory", information.keysAreLockedInMemory ? "locked" : notLocked),
        ] + information.problems.map { ("Problem", StandardOutput.shown($0)) }
    }

    private static func report(_ information: Keychain.Information) -> JSONObject {
        let keys = information.keySlots.map { slot -> JSONObject in
            let cost: JSONObject? = slot.cost.map { ["passes": $0.passes, "memory": $0.memory] }
            return ["kind": slot.kind, "label": slot.label, "created": Timestamp.text(slot.created), "cost": cost]
        }
        return [
            "vault": information.vault, "key_file": information.keyFile,
            "key_file_sharing": information.keyFileSharing, "id": information.id,
            "created": Timestamp.text(information.created), "sequence": information.sequence,
            "entries": information.entries, "file_size": information.fileSize, "live_bytes": information.liveBytes,
            "dead_bytes": information.deadBytes, "records_since_checkpoint": information.recordsSinceCheckpoint,
            "keys": keys, "memory_is_kept": information.memoryIsKept, "problems": information.problems,
            "keys_are_locked_in_memory": information.keysAreLockedInMemory,
        ]
    }
}
