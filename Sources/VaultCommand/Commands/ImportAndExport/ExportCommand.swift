import Vault

enum ExportCommand: Command {
    static let description = CommandDescription(
        name: .export, section: .importAndExport, changesNothing: true,
        summary: "write entries in plain text, for another program",
        arguments: [
            .init(
                name: "FORMAT", choices: ExportFormat.allCases.map(\.rawValue),
                help: ExportFormat.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        ],
        options: [
            .init(name: .plaintext, help: "Confirm that values are written in plain text. Required."),
            .init(name: .prefix, value: "PREFIX", help: "Export only names with this prefix."),
            .init(
                name: .output, short: "o", value: "PATH", completion: .file,
                help: "The file to write, readable by you alone (default: standard output, unless it is a terminal)."),
        ],
        details: """
            json contains everything but the history: `vault import json` restores the same names, values, kinds, \
            attributes and expiry times. Use `vault backup` for a copy that stays sealed.

            env derives variables from the names: db/password becomes DB_PASSWORD. csv has one row per login, with the \
            columns name, username, password, url, notes and otp; other attributes are left out. Both formats support \
            only text. Other values are refused, and the error names them.
            """,
        examples: [
            .init("vault export json --plaintext -o vault.json", "write a new file of mode 0600"),
            .init("vault export json --plaintext | age -r age1... > vault.age", "never store the plain text"),
        ],
        exitCodes: [
            .init(
                .refused,
                "--plaintext is missing, the file exists, the output is a terminal, or an entry does not fit FORMAT")
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard let format = ExportFormat(rawValue: invocation.name) else {
            throw UsageError.badArgument("FORMAT", choices: ExportFormat.allCases.map(\.rawValue))
        }
        guard invocation.has(.plaintext) else {
            throw CommandError.refused(
                "An export writes all values in plain text; nothing was written. Use --plaintext to confirm.")
        }
        let output = invocation.value(of: .output)
        guard output != nil || !StandardOutput.isTerminal else {
            throw CommandError.refused(
                "Standard output is a terminal, which would show all values. Use --output FILE, or a pipe.")
        }
        let keychain = try invocation.openVault()
        let (text, count) = try format.text(of: keychain, prefix: invocation.value(of: .prefix) ?? "") { name in
            try invocation.readingEntry(name, from: keychain)
        }
        try text.write(to: output)
        guard let output else { return .success }
        return try invocation.finish(json: ["file": output, "entries": count]) {
            "Wrote \(Quantity.entries(count)) in plain text to \(StandardOutput.shown(output)).\n"
        }
    }
}
