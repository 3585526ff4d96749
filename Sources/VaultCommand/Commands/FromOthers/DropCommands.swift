import LinuxSystem
import Vault

enum DropCommand: Command {
    static let description = CommandDescription(
        name: .drop, section: .fromOthers, summary: "seal a value for a vault that you cannot open",
        arguments: [.init(name: "NAME", help: "The name for the value.")],
        options: [
            .init(name: .to, value: "AGE1...", help: "The vault's drop box, as `vault info` shows it. Required."),
            .init(
                name: .output, short: "o", value: "PATH", completion: .file,
                help: "The file to write (default: standard output)."),
            .init(
                name: .file, value: "PATH", completion: .file,
                help: "Read the value from a file, byte for byte; - is standard input."),
            .init(
                name: .attribute, short: "a", value: "KEY=VALUE", isRepeatable: true,
                help: "An attribute to find the entry by."),
        ],
        details: """
            Needs no vault and no key. Send the file to the vault's owner, who stores the value with `vault collect`. \
            The file is an age file; nothing in it identifies its author.
            """,
        examples: [.init("deploy-token | vault drop --to age1... ci/token -o token.drop", "seal a token in a CI job")],
        exitCodes: [.init(.usage, "the name, the value or the recipient is invalid")],
        mayHoldSecrets: true)

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard let recipient = invocation.value(of: .to) else { throw UsageError.missingOption(.to, of: .drop) }
        let output = invocation.value(of: .output)
        guard output != nil || !StandardOutput.isTerminal else { throw UsageError.binaryOutput }
        try Naming.name.check(invocation.name)
        let attributes = try invocation.options[.attribute].map(Attributes.parse) ?? [:]
        let value = try SetCommand.readValue(invocation, nil, isAsked: SetCommand.asksForValue(invocation))
        guard value.count > 0 else { throw CommandError.invalid("The value is empty; nothing was sealed.") }
        let bytes = try Keychain.DropBox.seal(
            invocation.name, value, kind: .unspecified, attributes: attributes, to: recipient,
            asking: TerminalPluginPrompter())
        guard let output else {
            try bytes.withRawBytes(StandardOutput.write)
            return .success
        }
        try NewFile.write(bytes, to: output)
        return try invocation.finish(json: ["name": invocation.name, "file": output]) {
            "Sealed \"\(StandardOutput.shown(invocation.name))\" in \(StandardOutput.shown(output)).\n"
        }
    }
}

enum CollectCommand: Command {
    static let description = CommandDescription(
        name: .collect, section: .fromOthers, summary: "store values that others have sealed for the vault",
        arguments: [.init(name: "FILE", count: .oneOrMore, completion: .file, help: "A file written by `vault drop`.")],
        options: [
            .init(name: .force, short: "f", help: "Store without asking, even if values are replaced."),
            .init(name: .acceptOlder, help: "Also store values sealed before their entry was last changed or removed."),
        ],
        details: """
            Lists names and attributes first and asks for confirmation, since nothing identifies the author of a drop. \
            Without a terminal, --force is required. Stores all values or none. A replaced value stays in the history, \
            if one is kept. The files are kept; delete them yourself.
            """,
        examples: [.init("vault collect token.drop", "review the value, then store it")],
        exitCodes: [
            .init(
                .refused,
                "a drop was not confirmed, or is older than the last change to the entry of the same name; "
                    + "nothing was stored"),
            .init(.locked, "a drop was sealed for another vault"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let drops = try invocation.arguments.map { try open($0, in: keychain, AdvisedCommand(invocation)) }
        let acceptsOlder = invocation.has(.acceptOlder)
        if !acceptsOlder { try keychain.dropBox.checkAges(of: drops) }
        if !invocation.has(.force) {
            StandardError.write(try lines(for: drops, in: keychain))
            guard Confirmation.ask("Store \(drops.count == 1 ? "it" : "them")? [y/N] ") else {
                throw CommandError.refused("Not confirmed; nothing was stored. Use --force to store without asking.")
            }
        }
        try keychain.dropBox.collect(drops, replacing: true, acceptingOlder: acceptsOlder)
        invocation.reportPolicies(of: drops.map(\.name), in: keychain)
        return try invocation.finish(keychain, json: ["names": drops.map(\.name)])
    }

    /// Opens one drop. Errors name the drop's file, because the command may open several files.
    private static func open(_ path: String, in keychain: Keychain, _ advised: AdvisedCommand) throws
        -> Keychain.DropBox.Drop
    {
        let file = try ValueInput.readFile(at: path, upTo: 20 << 20)
        do { return try keychain.dropBox.open(file.unsafeArray()) } catch {
            var error = CommandError(error, advising: advised)
            error.message = "\(StandardOutput.shown(path)): \(error.message)"
            throw error
        }
    }

    /// Returns a description of the drops. The user must confirm it, because nothing identifies the drops' authors.
    private static func lines(for drops: [Keychain.DropBox.Drop], in keychain: Keychain) throws -> String {
        var lines = ""
        var names = Set<ExactText>()
        for drop in drops {
            let isLater = !names.insert(ExactText(drop.name)).inserted
            let state = try isLater ? "replaces the one above" : keychain.exists(drop.name) ? "replaces a value" : "new"
            let time = Timestamp.text(drop.created)
            lines += "\(drop.name.forTerminal)  \(Quantity.size(drop.size)), sealed \(time), \(state)\n"
            for (key, value) in drop.attributes.sorted(by: { $0.key < $1.key }) {
                // A value that contains a line feed is quoted, because its next line could pass for another drop's.
                let isOneLine = !value.utf8.contains(UInt8(ascii: "\n"))
                lines += "    \(key.forTerminal)=\(isOneLine ? value.forTerminal : value.quoted)\n"
            }
        }
        return lines
    }
}
