import Vault

enum ExistsCommand: Command {
    static let description = CommandDescription(
        name: .exists, summary: "check whether a name exists (exit code only)",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name.")],
        details: ["Prints nothing, unless --json is given."],
        examples: [.init("vault exists u.token || vault set u.token", "set it unless it exists")],
        exitCodes: [
            .init(.success, "the name exists"),
            .init(.notFound, "it does not exist, or there is no vault"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let exists = try invocation.openVault().exists(invocation.name)
        let json = report(name: invocation.name, exists: exists)
        return try invocation.finish(exists ? .success : .notFound, json: json)
    }

    static func report(name: String, exists: Bool) -> JSONObject { ["name": name, "exists": exists] }
}

enum RemoveCommand: Command {
    static let description = CommandDescription(
        name: .remove, summary: "remove names and their values",
        arguments: [.init(name: "NAME", count: .oneOrMore, completion: .secretName, help: "A name to remove.")],
        options: [
            .init(name: .force, short: "f", help: "Ignore names that do not exist."),
            .init(
                name: .purge,
                help: "Keep no earlier values either, rewrite the file without them, and take them from no other copy."),
        ],
        details: [
            """
            Removes all names at once or, if one of them does not exist, none. Does not ask: without --purge, `vault \
            undo` takes it back, and `vault restore NAME` brings one back.
            """
        ],
        examples: [.init("vault rm old.token old.password", "both or neither")],
        exitCodes: [.init(.notFound, "one of the names does not exist; none was removed")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        // Compared as bytes: as strings, two spellings of an accented letter are equal.
        var seen: Set<[UInt8]> = []
        let names = invocation.arguments.filter { seen.insert(Array($0.utf8)).inserted }
        if invocation.has(.purge) { return try purge(names, in: keychain, invocation) }
        do {
            let removed = try keychain.transaction { transaction in
                try names.filter { name in
                    let wasThere = try transaction.remove(name)
                    guard wasThere || invocation.has(.force) else { throw AbsentName(name: name) }
                    return wasThere
                }
            }
            return try invocation.finish(keychain, json: report(removed: removed))
        } catch let error as AbsentName {
            // The similar name is searched outside of the transaction, which blocks other writers.
            throw keychain.absent(error.name)
        }
    }

    private static func purge(
        _ names: [String], in keychain: Keychain, _ invocation: Invocation
    ) throws -> ExitCode {
        let known = Set(try keychain.purgeable(names).map { Array($0.utf8) })
        if !invocation.has(.force), let unknown = names.first(where: { !known.contains(Array($0.utf8)) }) {
            throw keychain.absent(unknown)
        }
        let purged = try keychain.purge(names)
        return try invocation.finish(keychain, json: report(removed: purged))
    }

    private struct AbsentName: Error {
        let name: String
    }

    static func report(removed: [String]) -> JSONObject { ["removed": removed] }
}

enum MoveCommand: Command {
    static let description = Relocation.description(
        name: .move, summary: "rename an entry",
        details: ["Its attributes stay with it. Other processes see the old name or the new one, never both or none."],
        examples: [.init("vault mv u.token u.token.old", "under the new name only")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try Relocation.run(invocation) { try $0.rename($1, to: $2, replacing: $3) }
    }
}

enum CopyCommand: Command {
    static let description = Relocation.description(
        name: .copy, summary: "copy a value to another name",
        details: ["Its attributes are copied too."],
        examples: [.init("vault cp u.token u.token.old", "under both names")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try Relocation.run(invocation) { try $0.copy($1, to: $2, replacing: $3) }
    }
}

/// What `mv` and `cp` share: both put an entry under another name.
enum Relocation {
    static func description(
        name: CommandName, summary: String, details: [String], examples: [ExampleDescription]
    ) -> CommandDescription {
        CommandDescription(
            name: name, summary: summary,
            arguments: [
                .init(name: "FROM", completion: .secretName, help: "The name to \(name == .move ? "move" : "copy")."),
                .init(name: "TO", completion: .secretName, help: "The new name."),
            ],
            options: [.init(name: .force, short: "f", help: "Replace TO if it exists. Without it, that is refused.")],
            details: details, examples: examples,
            exitCodes: [
                .init(.notFound, "FROM does not exist"),
                .init(.refused, "TO already exists; --force replaces it"),
            ])
    }

    static func run(
        _ invocation: Invocation, _ relocate: (Keychain, _ from: String, _ to: String, _ isForced: Bool) throws -> Void
    ) throws -> ExitCode {
        let (from, to) = (invocation.arguments[0], invocation.arguments[1])
        let keychain = try invocation.openVault()
        do {
            try relocate(keychain, from, to, invocation.has(.force))
        } catch let error as VaultError where error.code == .absent {
            throw keychain.absent(from)
        } catch let error as VaultError where error.code == .exists {
            var refusal = CommandError(error)
            refusal.message += " Use --force to replace it."
            throw refusal
        }
        return try invocation.finish(keychain, json: report(from: from, to: to))
    }

    static func report(from: String, to: String) -> JSONObject { ["from": from, "to": to] }
}
