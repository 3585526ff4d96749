import SealedLog
import Vault

enum SalvageCommand: Command {
    static let description = CommandDescription(
        name: .salvage, section: .vault, summary: "copy the intact parts of a damaged vault to a new one",
        arguments: [.init(name: "OUT", completion: .file, help: "The path of the new vault. It must not exist.")],
        details: """
            The damaged file is only read. The new vault opens with the key that opened this one, and with no other \
            key. The report is ordered by certainty: last values, values whose last change may be lost, earlier values \
            in place of lost ones, and lost values, including those of the history. At the end it lists parts that \
            were not copied, such as other keys and members. Drops sealed for the old vault do not open with the new \
            one.

            To replace the old vault, move it away and keep it, move the new one to its path, and run one command with \
            --accept-exchanged, such as `vault ls --accept-exchanged`.
            """,
        examples: [.init("vault salvage ./salvaged.vault", "copy the standard vault to a new file")],
        exitCodes: [
            .init(.refused, "OUT already exists; it is left alone"),
            .init(.locked, "the key opens none of the remaining key slots"),
            .init(.damaged, "something is lost or doubtful; see the report"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let location = try invocation.location()
        let options = try invocation.vaultOptions()
        let salvage = try invocation.withProgress("Salvaging") { progress in
            try Keychain.Maintenance.salvage(from: location, to: invocation.name, options: options, progress: progress)
        }
        let json: JSONObject = [
            "vault": invocation.name, "certain": salvage.certain, "doubtful": salvage.doubtful, "older": salvage.older,
            "lost": salvage.lost,
            "lost_versions": salvage.lostVersions.map { version -> JSONObject in
                ["name": version.name, "version": version.number, "modified": Timestamp.text(version.date)]
            },
            "unnamed": salvage.unnamed, "damage": salvage.damage,
            "is_complete": salvage.isComplete, "left_behind": salvage.leftBehind.map(\.rawValue),
        ]
        return try invocation.finish(salvage.isWithoutLoss ? .success : .damaged, json: json) {
            text(invocation.name, salvage, AdvisedCommand(invocation).of(invocation.name))
        }
    }

    private static func text(_ vault: String, _ salvage: SalvageReport, _ advised: AdvisedCommand) -> String {
        var text = "Copied to \(StandardOutput.shown(vault)). Entries with their last value: \(salvage.certain).\n"
        func list(_ names: [String], _ title: String) { listLines(names.map(StandardOutput.shown), title) }
        func listLines(_ lines: [String], _ title: String) {
            if !lines.isEmpty { text += title + "\n" + lines.map { "  \($0)\n" }.joined() }
        }
        list(salvage.doubtful, "Copied, but the last change may be lost:")
        list(salvage.older, "Copied with an earlier value, because the last one is lost:")
        list(salvage.lost, "Lost:")
        let versions = salvage.lostVersions.map { version in
            "\(StandardOutput.shown(version.name)): version \(version.number), from \(Timestamp.text(version.date))"
        }
        listLines(versions, "Lost earlier values:")
        switch salvage.unnamed {
        case 0: break
        case let count?: text += "Lost entries whose names are unknown: \(count).\n"
        case nil: text += "More entries may be lost; their number is unknown.\n"
        }
        list(salvage.damage, "Damaged or missing:")
        list(salvage.leftBehind.map { sentence($0, advised) }, "Not copied:")
        return salvage.isComplete ? text + "No entry is missing.\n" : text
    }

    private static func sentence(_ part: SalvageReport.Part, _ advised: AdvisedCommand) -> String {
        switch part {
        case .header:
            """
            The header's contents are guesses. Check the access log (`\(advised.line("log"))`), the limits of the \
            history (`\(advised.line("history"))`) and the members (`\(advised.line("member ls"))`).
            """
        case .manifest: "The settings, the key's label and the creation time are lost."
        case .members: "The members and the authors of changes. Add the members again: `\(advised.line("member add"))`."
        case .keys: "All keys except the one that was used. Add them again: `\(advised.line("key add"))`."
        case .accesses: "The recorded reads. The new vault starts a new access log."
        }
    }
}
