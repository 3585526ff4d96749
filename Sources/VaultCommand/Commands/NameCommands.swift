import Vault

// The commands that touch names, but show no value.

enum ExistsCommand: Command {
    static let description = CommandDescription(
        name: .exists,
        summary: "check whether a name exists (exit code only)",
        arguments: [ArgumentDescription(name: "NAME", completion: .secretName, help: "The name.")],
        details: ["Prints nothing, unless --json is given."],
        examples: [.init(line: "vault exists u.token || vault set u.token", meaning: "set it unless it exists")],
        exitCodes: [
            .init(code: .success, meaning: "the name exists"),
            .init(code: .notFound, meaning: "it does not exist, or there is no vault"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let exists = try session.openVault().exists(session.name)
        try session.print(json: ExistsReport(name: session.name, exists: exists))
        return exists ? .success : .notFound
    }
}

struct ExistsReport: Encodable {
    let name: String
    let exists: Bool
}

// MARK: - rm

enum RemoveCommand: Command {
    static let description = CommandDescription(
        name: .remove,
        summary: "remove names and their values",
        arguments: [
            ArgumentDescription(name: "NAME", count: .oneOrMore, completion: .secretName, help: "A name to remove.")
        ],
        options: [OptionDescription(name: .force, short: "f", help: "Ignore names that do not exist.")],
        details: ["Removes all names at once or, if one of them does not exist, none. Does not ask."],
        examples: [.init(line: "vault rm old.token old.password", meaning: "both or neither")],
        exitCodes: [.init(code: .notFound, meaning: "one of the names does not exist; none was removed")]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let keychain = try session.openVault()
        let isForced = session.invocation.has(.force)
        // Compared as bytes: as strings, two spellings of an accented letter are equal.
        var seen: Set<[UInt8]> = []
        let names = session.invocation.arguments.filter { seen.insert(Array($0.utf8)).inserted }
        let removed: [String]
        do {
            removed = try keychain.transaction { transaction in
                try names.filter { name in
                    let wasThere = try transaction.remove(name)
                    guard wasThere || isForced else { throw AbsentName(name: name) }
                    return wasThere
                }
            }
        } catch let error as AbsentName {
            // The similar name is searched outside of the transaction, which blocks other writers.
            throw session.absent(error.name, in: keychain)
        }
        try session.print(json: RemoveReport(removed: removed))
        return .success
    }

    private struct AbsentName: Error {
        let name: String
    }
}

struct RemoveReport: Encodable {
    let removed: [String]
}

// MARK: - mv and cp

enum MoveCommand: Command {
    static let description = Relocation.description(
        name: .move,
        summary: "rename an entry",
        details: ["Its attributes stay with it. Other processes see the old name or the new one, never both or none."],
        examples: [.init(line: "vault mv u.token u.token.old", meaning: "under the new name only")]
    )

    static func run(_ session: Session) throws -> ExitCode {
        try Relocation.run(session) { try $0.rename($1, to: $2, replacing: $3) }
    }
}

enum CopyCommand: Command {
    static let description = Relocation.description(
        name: .copy,
        summary: "copy a value to another name",
        details: ["Its attributes are copied too."],
        examples: [.init(line: "vault cp u.token u.token.old", meaning: "under both names")]
    )

    static func run(_ session: Session) throws -> ExitCode {
        try Relocation.run(session) { try $0.copy($1, to: $2, replacing: $3) }
    }
}

/// What `mv` and `cp` share: both put an entry under another name.
private enum Relocation {
    static func description(
        name: CommandName, summary: String, details: [String], examples: [CommandDescription.Example]
    ) -> CommandDescription {
        CommandDescription(
            name: name, summary: summary,
            arguments: [
                ArgumentDescription(
                    name: "FROM", completion: .secretName, help: "The name to \(name == .move ? "move" : "copy")."),
                ArgumentDescription(name: "TO", completion: .secretName, help: "The new name."),
            ],
            options: [
                OptionDescription(
                    name: .force, short: "f", help: "Replace TO if it exists. Without it, that is refused.")
            ],
            details: details, examples: examples,
            exitCodes: [
                .init(code: .notFound, meaning: "FROM does not exist"),
                .init(code: .refused, meaning: "TO already exists; --force replaces it"),
            ])
    }

    /// Runs `relocate` and adds this tool's hints to its errors.
    static func run(
        _ session: Session,
        _ relocate: (_ keychain: Keychain, _ from: String, _ to: String, _ isForced: Bool) throws -> Void
    ) throws -> ExitCode {
        let (from, to) = (session.invocation.arguments[0], session.invocation.arguments[1])
        let keychain = try session.openVault()
        do {
            try relocate(keychain, from, to, session.invocation.has(.force))
        } catch let error as VaultError where error.code == .absent {
            throw session.absent(from, in: keychain)
        } catch let error as VaultError where error.code == .exists {
            var refusal = CommandError(error)
            refusal.message += " Use --force to replace it."
            throw refusal
        }
        try session.print(json: RelocationReport(from: from, to: to))
        return .success
    }
}

struct RelocationReport: Encodable {
    let from: String
    let to: String
}
