import Vault

enum HistoryCommand: Command {
    static let description = CommandDescription(
        name: .history, summary: "list the values that a name had before",
        arguments: [
            .init(
                name: "NAME", count: .optional, completion: .secretName, help: "The name, also one that was removed.")
        ],
        options: [
            .init(
                name: .keep, value: "N,DAYS",
                help: "Keep N values of each name from now on, for so many days. 0,0 keeps none.")
        ],
        details: [
            """
            Shows when each value was set and its size, never the value. A vault keeps the last 10 values of a name, \
            each for 90 days after it was replaced or removed, unless --keep has changed that for all who use it.
            """
        ],
        examples: [
            .init("vault history u.token", "the newest first"),
            .init("vault history --keep 3,30", "less for all names; what is more goes at once"),
        ],
        exitCodes: [.init(.notFound, "no earlier value of the name is kept")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let limits = try invocation.historyLimits
        guard let name = invocation.arguments.first else { return try keep(limits, invocation) }
        guard limits == nil else { throw UsageError.keepForAllNames }
        let keychain = try invocation.openVault()
        let versions = try keychain.history(of: name)
        guard !versions.isEmpty else {
            guard try keychain.exists(name) else { throw keychain.absent(name) }
            throw CommandError(VaultError(.absent, "No earlier value of \"\(name)\" is kept."))
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

    private static func keep(_ limits: Keychain.HistoryLimits?, _ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        if let limits { try keychain.keepHistory(limits) }
        let kept = try keychain.historyLimits()
        return try invocation.finish(json: ["history_versions": kept.versions, "history_days": kept.days]) {
            kept.versions == 0
                ? "No earlier values are kept.\n"
                : "The last \(kept.versions) values of a name are kept, for \(kept.days) days.\n"
        }
    }
}

enum RestoreCommand: Command {
    static let description = CommandDescription(
        name: .restore, summary: "give a name an earlier value back",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name, also one that was removed.")],
        options: [
            .init(
                name: .version, value: "N",
                help: "Which value, by its number in `vault history` (default: 1, the last one before the present).")
        ],
        details: ["The present value becomes part of the history."],
        examples: [.init("vault restore u.token", "take the last change of u.token back")],
        exitCodes: [.init(.notFound, "no such earlier value is kept")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let number = try invocation.number(of: .version) ?? 1
        let keychain = try invocation.openVault()
        let versions = try keychain.history(of: invocation.name)
        guard let version = versions.first(where: { $0.number == number }) else {
            guard try !versions.isEmpty || keychain.exists(invocation.name) else {
                throw keychain.absent(invocation.name)
            }
            let kept =
                switch versions.count {
                case 0: "no earlier value is kept"
                case 1: "only version 1 is kept"
                default: "versions 1 to \(versions.count) are kept"
                }
            throw CommandError(VaultError(.absent, "Of \"\(invocation.name)\", \(kept)."))
        }
        try keychain.restore(invocation.name, version)
        invocation.tellPolicies(of: [invocation.name], in: keychain)
        return try invocation.finish(keychain, json: ["name": invocation.name, "version": number])
    }
}

enum UndoCommand: Command {
    static let description = CommandDescription(
        name: .undo, summary: "take the newest change back",
        details: [
            """
            Each name that the newest change has set or removed gets its former value back, with its attributes and \
            expiry, or is removed if it had none. What was changed together is taken back together, or not at all. A \
            second `vault undo` makes the change again. A merge cannot be taken back.
            """
        ],
        examples: [.init("vault undo", "after a `vault set` or `vault rm` by mistake")],
        exitCodes: [.init(.notFound, "there is nothing to take back, or a former value is not kept")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let names = try keychain.undo()
        guard !names.isEmpty else { throw CommandError(VaultError(.absent, "There is no change to take back.")) }
        let exit = try invocation.finish(keychain, json: ["names": names])
        if !invocation.wantsJSON {
            StandardError.write("Took back the newest change: \(names.map(\.forTerminal).joined(separator: ", "))\n")
        }
        invocation.tellPolicies(of: names, in: keychain, toScriptsToo: true)
        return exit
    }
}
