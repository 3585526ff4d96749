import Formats
import Glibc
import LinuxSystem
import Vault

enum SetupSSHCommand: Command {
    static let description = CommandDescription(
        name: .setupSSH, summary: "let ssh take the passphrase of a key from the vault",
        arguments: [
            .init(name: "KEYFILE", completion: .file, help: "The private key, such as ~/.ssh/id_ed25519."),
            .init(name: "NAME", completion: .secretName, help: "The entry that has its passphrase."),
        ],
        options: [.dryRun, .undo],
        details: [
            """
            Gives the entry the attribute `askpass`, and writes the lines that let ssh and ssh-add ask \
            `vault-askpass`. With these in a shell's profile, ssh no longer asks at the terminal: what no entry is \
            mapped to is refused, so an unknown host has to be accepted once without them. For one run, write them \
            before the command.
            """,
            """
            A private key that is in the vault itself needs no passphrase and none of this: see `vault help ssh-add`.
            """,
        ],
        examples: [
            .init("vault setup ssh ~/.ssh/id_ed25519 ssh/laptop", "then put the lines into ~/.profile"),
            .init("vault setup ssh ~/.ssh/id_ed25519 ssh/laptop --undo", "no longer"),
        ],
        exitCodes: [
            .init(.notFound, "no such name; `vault set` stores the passphrase"),
            .init(.inputOutput, "no such file"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard try invocation.handedOn().isEmpty else {
            throw CommandError.invalid(
                "ssh hands no options on to \(HelperName.askpass.rawValue). Name the vault and its key in the "
                    + "configuration, or by VAULT_FILE and VAULT_KEY_FILE.")
        }
        let (path, name) = (absolutePath(invocation.arguments[0]), invocation.arguments[1])
        let keychain = try invocation.openVault()
        let mapping = "# \(name): \(AskpassCommand.attribute)=\(path)"
        let exports = ["export SSH_ASKPASS=\(HelperName.askpass.rawValue)", "export SSH_ASKPASS_REQUIRE=force"]
        if !invocation.has(.undo) {
            guard access(path, F_OK) == 0 else { throw CommandError.system("\(path) could not be found", errno) }
            guard try keychain.exists(name) else { throw keychain.absent(name) }
            if !OtherProgram.isInstalled(HelperName.askpass.rawValue) {
                Notes.tell(
                    "ssh starts \(HelperName.askpass.rawValue), which is not on the PATH. Create it as a symbolic "
                        + "link to `vault`.")
            }
        }
        return try invocation.finish(
            Setting(
                lines: [mapping] + exports, undoing: [mapping],
                write: { try keychain.setAttribute(AskpassCommand.attribute, of: name, from: nil, to: path) },
                undo: { try keychain.setAttribute(AskpassCommand.attribute, of: name, from: path, to: nil) }))
    }
}

extension Keychain {
    /// Changes one attribute of an entry, and nothing else of it.
    ///
    /// - Parameter former: what it has to be; nil for anything. Otherwise nothing is changed.
    fileprivate func setAttribute(_ key: String, of name: String, from former: String?, to new: String?) throws {
        try transaction { (transaction) throws(VaultError) in
            // If another process changes it after this, the transaction runs again.
            guard try transaction.exists(name), let item = try item(name), let value = try sealable(name) else {
                return
            }
            let present = item.attributes[key]
            guard present != new, former == nil || present == former else { return }
            var attributes = item.attributes
            attributes[key] = new
            try transaction.put(name, value, attributes: attributes, expires: item.expires)
        }
    }
}
