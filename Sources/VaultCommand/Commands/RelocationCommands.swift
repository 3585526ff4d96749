import Vault

enum MoveCommand: Command {
    static let description = Relocation.description(
        name: .move, summary: "rename entries",
        details: [
            "Attributes and expiry stay. Other processes see the old names or the new ones, never both or none."
        ],
        examples: [
            .init("vault mv u.token u.token.old", "under the new name only"),
            .init("vault mv shop/ web/shop/", "a folder"),
            .init("vault mv -r web/shop web/store", "a login with its fields"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode { try Relocation.run(invocation) }
}

enum CopyCommand: Command {
    static let description = Relocation.description(
        name: .copy, summary: "copy values to other names",
        details: ["Attributes and expiry are copied too."],
        examples: [
            .init("vault cp u.token u.token.old", "under both names"),
            .init("vault cp -r web/shop web/store", "a login with its fields"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode { try Relocation.run(invocation) }
}

/// What `mv` and `cp` share: both put entries under other names.
enum Relocation {
    static func description(
        name: CommandName, summary: String, details: [String], examples: [ExampleDescription]
    ) -> CommandDescription {
        CommandDescription(
            name: name, summary: summary,
            arguments: [
                .init(name: "FROM", completion: .secretName, help: "The name to \(name == .move ? "move" : "copy")."),
                .init(name: "TO", completion: .secretName, help: "The new name, or a folder with a slash at its end."),
            ],
            options: [
                .recursive,
                .init(name: .force, short: "f", help: "Replace what exists. Without it, that is refused."),
            ],
            details: details + [
                """
                A FROM with a slash at its end is a folder: all names that begin with it begin with TO then. Into a \
                folder TO, a single name goes with the part behind its last slash. All or none.
                """
            ],
            examples: examples,
            exitCodes: [
                .init(.notFound, "FROM does not exist"),
                .init(.refused, "a new name exists already; --force replaces it"),
            ])
    }

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let (from, to) = (invocation.arguments[0], invocation.arguments[1])
        let source = Subtree(root: from)
        let takesAll = source.isFolder || invocation.has(.recursive)
        let target = target(of: source, to)
        guard !takesAll || !Subtree(root: from).contains(target) || target == from else {
            throw UsageError.folderIntoItself
        }
        let keychain = try invocation.openVault()
        let names = try takesAll ? source.names(in: keychain) : [from]
        guard !names.isEmpty else { throw keychain.absent(from) }
        let pairs = names.map { (from: $0, to: source.renamed($0, to: target)) }
        do throws(VaultError) {
            try keychain.relocate(pairs, replacing: invocation.has(.force), removing: invocation.command == .move)
        } catch {
            if error.code == .absent { throw keychain.absent(from) }
            var refusal = CommandError(error)
            if error.code == .exists { refusal.message += " Use --force to replace it." }
            throw refusal
        }
        invocation.tellPolicies(of: pairs.map(\.to), in: keychain)
        return try invocation.finish(keychain, json: report(from: from, to: target, entries: pairs.count))
    }

    /// Returns what the source's root is called then. A folder's name has its slash whether it was typed or not.
    private static func target(of source: Subtree, _ to: String) -> String {
        switch (source.isFolder, to.hasSlashAtEnd) {
        case (true, false): to + "/"
        case (false, true): to + source.root.lastPathComponent
        default: to
        }
    }

    static func report(from: String, to: String, entries: Int) -> JSONObject {
        ["from": from, "to": to, "entries": entries]
    }
}
