import Vault

// The commands that change or look at names alone.

enum ExistsCommand: Command {
    static let description = CommandDescription(
        name: .exists,
        summary: "tell by the exit code whether there is a name",
        arguments: [ArgumentDescription(name: "NAME", completion: .secretName, help: "The name.")],
        details: ["Nothing is printed, unless --json is given."],
        examples: [.init(line: "vault exists u.token || vault set u.token", meaning: "set it unless it is there")],
        exitCodes: [
            .init(code: .success, meaning: "the name is there"),
            .init(code: .notFound, meaning: "it is not, or there is no vault"),
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
        options: [OptionDescription(name: .force, short: "f", help: "A name that is not there is no error.")],
        details: ["All names are removed at once or, if one of them is not there, none. It does not ask."],
        examples: [.init(line: "vault rm old.token old.password", meaning: "both or neither")],
        exitCodes: [.init(code: .notFound, meaning: "one of the names is not there; none was removed")]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let keychain = try session.openVault()
        let isForced = session.invocation.has(.force)
        // Compared by their bytes: as strings, two spellings of an accented letter are equal.
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
            // The near name is looked for outside of the transaction, which keeps others from writing.
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
        summary: "give a name's value another name",
        details: ["Its attributes go along. Others see either the old name or the new one, never both or none."],
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

/// What `mv` and `cp` share: both put what one name has under another.
private enum Relocation {
    static func description(
        name: CommandName, summary: String, details: [String], examples: [CommandDescription.Example]
    ) -> CommandDescription {
        CommandDescription(
            name: name, summary: summary,
            arguments: [
                ArgumentDescription(
                    name: "FROM", completion: .secretName, help: "The name to \(name == .move ? "move" : "copy")."),
                ArgumentDescription(name: "TO", completion: .secretName, help: "The name to be given."),
            ],
            options: [
                OptionDescription(
                    name: .force, short: "f", help: "Replace TO if it is there; otherwise that is refused.")
            ],
            details: details, examples: examples,
            exitCodes: [
                .init(code: .notFound, meaning: "FROM is not there"),
                .init(code: .refused, meaning: "TO is there already; --force replaces it"),
            ])
    }

    /// Runs `relocate`, with hints for this tool's users on its errors.
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
