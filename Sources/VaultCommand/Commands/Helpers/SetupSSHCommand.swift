import Formats
import Glibc
import LinuxSystem
import Vault

enum SetupSSHCommand: Command {
    static let description = CommandDescription(
        name: .setupSSH, section: .helpers, summary: "set up ssh to get the passphrase of a key from the vault",
        arguments: [
            .init(name: "KEYFILE", completion: .file, help: "The private key, such as ~/.ssh/id_ed25519."),
            .init(name: "NAME", completion: .secretName, help: "The entry that contains the key's passphrase."),
        ],
        options: [.dryRun, .undo],
        details: """
            Gives the entry the attribute `askpass`, and prints the lines with which ssh and ssh-add run \
            `vault-askpass`. With these lines in a shell's profile, ssh no longer prompts at the terminal. Prompts \
            without an entry are refused, so accept an unknown host once without these lines. For a single run, set \
            the variables before the command.

            A private key that is itself in the vault needs no passphrase and no setup; see `vault help ssh-add`.
            """,
        examples: [
            .init("vault setup ssh ~/.ssh/id_ed25519 ssh/laptop", "then add the lines to ~/.profile"),
            .init("vault setup ssh ~/.ssh/id_ed25519 ssh/laptop --undo", "remove the attribute"),
        ],
        exitCodes: [
            .init(.refused, "the entry is mapped to another key"),
            .init(.notFound, "no such name; `vault set` stores the passphrase"),
            .init(.inputOutput, "no such file"),
        ])

    private static let attribute = AskpassCommand.attribute

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard try invocation.handedOn().isEmpty else { throw UsageError.noOptionsHandedOn(by: "ssh", to: .askpass) }
        let path = absolutePath(invocation.arguments[0])
        let name = invocation.arguments[1]
        let keychain = try invocation.openVault()
        let mapping = "# \(name): \(attribute)=\(path)"
        let exports = ["export SSH_ASKPASS=\(HelperName.askpass.rawValue)", "export SSH_ASKPASS_REQUIRE=force"]
        if !invocation.has(.undo) {
            guard access(path, F_OK) == 0 else { throw CommandError.system("\(path) could not be found", errno) }
            guard try keychain.exists(name) else { throw keychain.absent(name) }
            HelperName.askpass.noteIfMissing(for: "ssh")
        }
        return try invocation.finish(
            Setting(
                lines: [mapping] + exports, undoing: [mapping],
                write: { try map(name, to: path, in: keychain, AdvisedCommand(invocation)) },
                undo: {
                    // If the entry has been removed or mapped to another SSH key since the setup, it is left alone.
                    guard try keychain.exists(name) else { return false }
                    let change: [String: String?] = [attribute: nil]
                    return try keychain.setAttributes(of: name, change, ifMatching: [attribute: path])
                        .former[attribute] == path
                }))
    }

    /// Sets the entry's `askpass` attribute to a private key's path. Returns true if the entry did not have it before.
    private static func map(_ name: String, to path: String, in keychain: Keychain, _ advised: AdvisedCommand) throws
        -> Bool
    {
        let (former, present) = try keychain.setAttributes(of: name, [attribute: path], ifMatching: [attribute: nil])
        guard present[attribute] == path else {
            throw CommandError.refused(
                "\"\(name)\" is mapped to another key. To remove that mapping, run "
                    + "`\(advised.line("attr \(AdvisedCommand.name(name)) \(attribute)="))`.")
        }
        return former[attribute] == nil
    }
}
