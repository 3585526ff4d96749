import LinuxSystem
import SealedLog
import Vault

enum KeyListCommand: Command {
    static let description = CommandDescription(
        name: .keyList, section: .keys, changesNothing: true, summary: "list the keys that open the vault",
        details: """
            Each key opens the vault on its own. An asterisk marks the key that this command used.

            Also shows the fingerprint, which users compare before they open the vault with an age identity.
            """)

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let keys = try keychain.vaultKeys.all()
        let fingerprint = try keychain.vaultKeys.fingerprint()
        return try invocation.finish(json: ["fingerprint": fingerprint, "keys": keys.map(\.report)]) {
            keys.lines + "Fingerprint: \(fingerprint)\n"
        }
    }
}

enum KeyAddCommand: Command {
    static let description = CommandDescription(
        name: .keyAdd, section: .keys, summary: "add a key",
        options: [
            .init(
                name: .file, value: "PATH", completion: .file,
                help: "A key file; generated if missing. With --passphrase, only both together open the vault."),
            .init(name: .passphrase, help: "A passphrase; you enter it twice."),
            .init(name: .recipient, value: "AGE1...", help: "The age public key of a person or device."),
            .init(name: .command, value: "COMMAND", help: "A shell command whose output is the key."),
            .init(name: .label, value: "TEXT", help: "A label for the key, such as laptop. It is stored sealed."),
            .detached,
        ],
        details: """
            Existing keys are kept. A vault has up to 16 keys, and up to three of them may be passphrases.

            A command's text is stored in the vault unsealed. The command is run if no key file opens the vault, and \
            only on machines where it was added or was once given with --key-command.
            """,
        examples: [
            .init("vault key add --passphrase --label laptop", "add a passphrase that opens the vault on its own"),
            .init("vault key add --passphrase --file /media/usb/k.key", "require both a passphrase and a key file"),
            .init("vault key add --recipient age1... --label mia", "add a colleague's age key"),
            .init("vault key add --command 'tpm2_unseal -c 0x81000001'", "use a key that a TPM protects"),
        ],
        exitCodes: [.init(.refused, "the key already opens the vault")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let label = invocation.value(of: .label) ?? ""
        let given = [OptionName.passphrase, .recipient, .command].filter(invocation.has)
        guard given.count == 1 || given.isEmpty && invocation.has(.file),
            given.first == .passphrase || !(invocation.has(.file) && !given.isEmpty)
        else { throw UsageError.oneKeyOnly }
        let keychain = try invocation.openVault()
        if invocation.has(.passphrase) {
            let passphrase = try PassphrasePrompt.askForNew()
            let path = invocation.value(of: .file)
            if try keychain.vaultKeys.addPassphrase(passphrase, withKeyFile: path, label: label) {
                Notes.reportKeyFile(path)
            }
        } else if let recipient = invocation.value(of: .recipient) {
            try keychain.vaultKeys.addRecipient(recipient, label: label)
        } else if let command = invocation.value(of: .command) {
            try keychain.vaultKeys.addCommand(command, label: label)
        } else if let path = invocation.value(of: .file), try keychain.vaultKeys.addKeyFile(at: path, label: label) {
            Notes.reportKeyFile(path)
        }
        guard let key = try keychain.vaultKeys.all().last else { return .other }
        return try invocation.finish(json: key.report) { "Added key \(key.number): \(key.line)\n" }
    }
}

enum KeyRemoveCommand: Command {
    static let description = CommandDescription(
        name: .keyRemove, section: .keys, summary: "remove a key",
        arguments: [.init(name: "NUMBER", help: "The key's number in `vault key ls`.")],
        details: """
            The last key cannot be removed. Anyone who had the key can still open older copies of the vault, and may \
            have its data key. Rotate the data key with `vault key rotate`.
            """,
        exitCodes: [.init(.notFound, "no key has that number")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let number = try invocation.number(invocation.name, "NUMBER")
        let keychain = try invocation.openVault()
        let key = try keychain.key(number)
        let left = try keychain.vaultKeys.remove(key)
        return try invocation.finish(json: key.report) {
            let advised = AdvisedCommand(invocation)
            // The options on this command line refer to the removed key, so the suggested command must not repeat them.
            let other = left.contains { $0.kind == .keyFile } ? "OTHER" : nil
            let rotation = key.isInUse ? advised.withKeyFile(other) : advised
            return "Removed key \(number): \(key.line)\n" + left.openers
                + (key.isInUse ? "This command used the removed key. From now on, use another one.\n" : "")
                + "Anyone who had this key may still have the data key. Rotate the data key: "
                + "`\(rotation.line("key rotate"))`\n"
        }
    }
}

enum KeyCheckCommand: Command {
    static let description = CommandDescription(
        name: .keyCheck, section: .keys, summary: "check that a key file, such as a backup, opens the vault",
        arguments: [
            .init(name: "PATH", count: .optional, completion: .file, help: "The key file (default: the one in use).")
        ],
        details: "Reads the whole vault with this key file, and changes nothing.",
        examples: [.init("vault key check /media/usb/backup.key", "test a backup before you store the disk")],
        exitCodes: [.init(.locked, "the file is not a key, or not a key of this vault")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.arguments.first.map(invocation.openVault(byKeyFileAt:)) ?? invocation.openVault()
        let found = try invocation.withProgress("Verifying") { try keychain.maintenance.verify(progress: $0) }
        guard let key = try keychain.vaultKeys.all().first(where: \.isInUse) else { return .other }
        return try invocation.finish(json: key.report) {
            "Key \(key.number) opens the vault: \(key.line)\n"
                + "The vault is intact: \(Quantity.entries(found.entries)) checked.\n"
        }
    }
}
