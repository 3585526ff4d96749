import SealedFormat
import Vault

enum HistoryCommand: Command {
    static let description = CommandDescription(
        name: .history, section: .earlierValues, summary: "list the earlier values of a name",
        arguments: [
            .init(name: "NAME", count: .optional, completion: .secretName, help: "A current or removed entry's name.")
        ],
        options: [
            .init(
                name: .keep, value: "N,DAYS",
                help: "From now on, keep up to N earlier values per name, for DAYS days each. 0,0 keeps none.")
        ],
        details: """
            Shows the time and size of each value, never the value itself. A vault keeps the last 10 values of a name, \
            each for 90 days after it was replaced or removed, unless --keep has changed these limits for all users of \
            the vault.
            """,
        examples: [
            .init("vault history u.token", "list the earlier values, newest first"),
            .init("vault history --keep 3,30", "keep fewer earlier values of all names, and drop the rest immediately"),
        ],
        exitCodes: [.init(.notFound, "the name has no earlier value")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let limits = try invocation.historyLimits
        guard let name = invocation.arguments.first else { return try keep(limits, invocation) }
        guard limits == nil else { throw UsageError.keepForAllNames }
        let keychain = try invocation.openVault()
        let versions = try keychain.history.versions(of: name)
        guard !versions.isEmpty else {
            guard try keychain.exists(name) else { throw keychain.absent(name) }
            throw VaultError(.absent, "\"\(name)\" has no earlier value in its history.")
        }
        let json: JSONObject = [
            "name": name,
            "versions": versions.map { version -> JSONObject in
                [
                    "version": version.number, "modified": Timestamp.text(version.modified), "size": version.size,
                    "author": version.signer?.name, "author_was_member": version.signer?.wasMember,
                ]
            },
        ]
        return try invocation.finish(json: json) {
            versions.map { version in
                let number = TextLayout.padded("\(version.number)", to: 3, onLeft: true)
                let author = version.signer.map { "  \($0.line)" } ?? ""
                return "\(number)  \(Timestamp.text(version.modified))  \(Quantity.size(version.size))\(author)\n"
            }.joined()
        }
    }

    private static func keep(_ limits: Keychain.History.Retention?, _ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        if let limits { try keychain.history.setRetention(limits) }
        let kept = try keychain.history.retention()
        return try invocation.finish(json: ["history_versions": kept.versions, "history_days": kept.days]) {
            kept.versions == 0
                ? "Earlier values are not kept.\n"
                : "Up to \(kept.versions) earlier values of each name are kept, for \(kept.days) days each.\n"
        }
    }
}

enum RestoreCommand: Command {
    static let description = CommandDescription(
        name: .restore, section: .earlierValues, summary: "restore an earlier value of a name",
        arguments: [.init(name: "NAME", completion: .secretName, help: "A current or removed entry's name.")],
        options: [
            .init(
                name: .version, value: "N",
                help: "The number of the value in `vault history` (default: 1, the most recent earlier one).")
        ],
        details: "The current value becomes part of the history.",
        examples: [.init("vault restore u.token", "undo the last change of u.token")],
        exitCodes: [.init(.notFound, "the history has no such value")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let number = try invocation.number(of: .version) ?? 1
        let keychain = try invocation.openVault()
        let versions = try keychain.history.versions(of: invocation.name)
        guard let version = versions.first(where: { $0.number == number }) else {
            guard try !versions.isEmpty || keychain.exists(invocation.name) else {
                throw keychain.absent(invocation.name)
            }
            let kept =
                switch versions.count {
                case 0: "has no earlier value in its history"
                case 1: "has only version 1 in its history"
                default: "has versions 1 to \(versions.count) in its history"
                }
            throw VaultError(.absent, "\"\(invocation.name)\" \(kept).")
        }
        try keychain.history.restore(invocation.name, version)
        invocation.reportPolicies(of: [invocation.name], in: keychain)
        return try invocation.finish(keychain, json: ["name": invocation.name, "version": number])
    }
}

enum UndoCommand: Command {
    static let description = CommandDescription(
        name: .undo, section: .earlierValues, summary: "undo the newest change",
        details: """
            Each name that the newest change set or removed gets back its previous value, attributes and expiry, or is \
            removed if it did not exist before. A change of several names is undone as a whole or not at all. A second \
            `vault undo` redoes the change. A merge or a salvage cannot be undone.
            """,
        examples: [.init("vault undo", "undo a mistaken `vault set` or `vault rm`")],
        exitCodes: [.init(.notFound, "there is nothing to undo, or a previous value is no longer kept")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let names = try keychain.history.undo()
        guard !names.isEmpty else { throw VaultError(.absent, "There is no change to undo.") }
        let exit = try invocation.finish(keychain, json: ["names": names])
        if !invocation.wantsJSON {
            StandardError.write("Undone: \(names.map(\.forTerminal).joined(separator: ", "))\n")
        }
        invocation.reportPolicies(of: names, in: keychain, toScriptsToo: true)
        return exit
    }
}
