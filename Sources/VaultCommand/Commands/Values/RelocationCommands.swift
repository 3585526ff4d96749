import Vault

enum MoveCommand: Command {
    static let description = Relocation.description(
        name: .move, summary: "rename entries",
        details: """
            Attributes and expiry are kept. Other processes see either the old names or the new ones, never a mixture.
            """,
        examples: [
            .init("vault mv u.token u.token.old", "rename an entry"),
            .init("vault mv shop/ web/shop/", "move a folder"),
            .init("vault mv -r web/shop web/store", "move a login with its fields"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode { try Relocation.run(invocation) }
}

enum CopyCommand: Command {
    static let description = Relocation.description(
        name: .copy, summary: "copy entries to other names",
        details: "Attributes and expiry are copied too.",
        examples: [
            .init("vault cp u.token u.token.old", "keep the entry under both names"),
            .init("vault cp -r web/shop web/store", "copy a login with its fields"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode { try Relocation.run(invocation) }
}

/// The common part of `mv` and `cp`, which both store entries under new names.
enum Relocation {
    static func description(
        name: CommandName, summary: String, details: String, examples: [ExampleDescription]
    ) -> CommandDescription {
        CommandDescription(
            name: name, section: .values, summary: summary,
            arguments: [
                .init(name: "FROM", completion: .secretName, help: "The name to \(name == .move ? "move" : "copy")."),
                .init(name: "TO", completion: .secretName, help: "The new name, or a folder ending with a slash."),
            ],
            options: [.recursive, .init(name: .force, short: "f", help: "Replace existing entries.")],
            details: """
                \(details)

                A FROM that ends with a slash is a folder, and TO replaces this prefix of all its names. If TO is a \
                folder, a single entry keeps the part of its name after the last slash. Either all entries are stored \
                or none.
                """,
            examples: examples,
            exitCodes: [
                .init(.notFound, "FROM does not exist"),
                .init(.refused, "a new name already exists; use --force to replace it"),
            ])
    }

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let from = invocation.arguments[0]
        let to = invocation.arguments[1]
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
            var refusal = CommandError(error, advising: AdvisedCommand(invocation))
            if error.code == .exists { refusal.message += " Use --force to replace it." }
            throw refusal
        }
        invocation.reportPolicies(of: pairs.map(\.to), in: keychain)
        return try invocation.finish(keychain, json: report(from: from, to: target, entries: pairs.count))
    }

    /// Returns the new name. Adds a folder's missing slash. An entry moved to a folder keeps its last component.
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
