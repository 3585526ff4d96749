import LinuxSystem
import Sealing
import Vault

enum KeyListCommand: Command {
    static let description = CommandDescription(
        name: .keyList, summary: "list the keys that open the vault",
        details: [
            "Any one of them opens the vault. The key that has opened it now is marked with an asterisk.",
            "Shows the fingerprint too, which people compare before they open the vault by an age identity.",
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let (keys, fingerprint) = (try keychain.vaultKeys(), try keychain.fingerprint())
        return try invocation.finish(json: ["fingerprint": fingerprint, "keys": keys.map(\.report)]) {
            keys.lines + "Fingerprint: \(fingerprint)\n"
        }
    }
}

enum KeyAddCommand: Command {
    static let description = CommandDescription(
        name: .keyAdd, summary: "let another key open the vault",
        options: [
            .init(
                name: .file, value: "PATH", completion: .file,
                help: "A key file. It is generated if it does not exist. With --passphrase, both are needed."),
            .init(name: .passphrase, help: "A passphrase, which is asked for twice."),
            .init(name: .recipient, value: "AGE1...", help: "A person or device, by the public key of age."),
            .init(name: .command, value: "COMMAND", help: "A command for the shell whose output is the key."),
            .init(name: .label, value: "TEXT", help: "What the key is, such as laptop. The vault stores it sealed."),
        ],
        details: [
            "The keys that there are stay. A vault has up to 16, of which three may be passphrases.",
            """
            The text of a command is stored in the vault, not sealed. It is run when no key file opens the vault, and \
            only on machines where it was added or given with --key-command once.
            """,
        ],
        examples: [
            .init("vault key add --passphrase --label laptop", "a passphrase that opens the vault by itself"),
            .init("vault key add --passphrase --file /media/usb/k.key", "a passphrase and a key file, both needed"),
            .init("vault key add --recipient age1... --label mia", "a colleague, by her age key"),
            .init("vault key add --command 'tpm2_unseal -c 0x81000001'", "what a TPM keeps"),
        ],
        exitCodes: [.init(.refused, "the key opens the vault already")])

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
            if try keychain.addPassphrase(passphrase, withKeyFile: path, label: label) { Notes.tellOfKeyFile(path) }
        } else if let recipient = invocation.value(of: .recipient) {
            try keychain.addRecipient(recipient, label: label)
        } else if let command = invocation.value(of: .command) {
            try keychain.addCommand(command, label: label)
        } else if let path = invocation.value(of: .file), try keychain.addKeyFile(at: path, label: label) {
            Notes.tellOfKeyFile(path)
        }
        guard let key = try keychain.vaultKeys().last else { return .other }
        return try invocation.finish(json: key.report) { "Added key \(key.number): \(key.line)\n" }
    }
}

enum KeyRemoveCommand: Command {
    static let description = CommandDescription(
        name: .keyRemove, summary: "let a key open the vault no more",
        arguments: [.init(name: "NUMBER", help: "The key's number in `vault key ls`.")],
        details: [
            """
            The last key cannot be removed. Whoever had the key can still open older copies of the vault, and may \
            have its data key: `vault key rotate` helps against that.
            """
        ],
        exitCodes: [.init(.notFound, "there is no key with that number")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let number = try invocation.number(invocation.name, "NUMBER")
        let keychain = try invocation.openVault()
        let key = try keychain.key(number)
        let left = try keychain.keysLeft(afterRemoving: key)
        return try invocation.finish(json: key.report) {
            "Removed key \(number): \(key.line)\n" + left.openers
                + "Whoever had it may still have the data key. Rotate it: `vault key rotate`\n"
        }
    }
}

enum KeyCheckCommand: Command {
    static let description = CommandDescription(
        name: .keyCheck, summary: "check that a key file, such as a backup, opens the vault",
        arguments: [
            .init(
                name: "PATH", count: .optional, completion: .file,
                help: "The key file (default: the one that the vault is opened with).")
        ],
        details: ["Reads the whole vault with it, and changes nothing."],
        examples: [.init("vault key check /media/usb/backup.key", "before the disk goes into the drawer")],
        exitCodes: [.init(.locked, "the file is no key, or opens another vault")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.arguments.first.map(invocation.openVault(byKeyFileAt:)) ?? invocation.openVault()
        let found = try invocation.withProgress("Verifying") { try keychain.verify(progress: $0) }
        guard let key = try keychain.vaultKeys().first(where: \.isInUse) else { return .other }
        return try invocation.finish(json: key.report) {
            "Opens the vault, as key \(key.number): \(key.line)\n"
                + "The vault is intact: \(Quantity.entries(found.entries)) checked.\n"
        }
    }
}

extension [Keychain.Key] {
    /// Tells which keys open the vault, after others were shut out.
    var openers: String { "Whoever has one of these keys can open the vault now:\n" + lines }

    /// A line for each, with its number.
    var lines: String { map { "\($0.isInUse ? "*" : " ") \($0.number)  \($0.line)\n" }.joined() }
}

extension Keychain.Key {
    var shownLabel: String { label.isEmpty ? "" : " (\(label.quoted))" }

    var report: JSONObject {
        let cost: JSONObject? = cost.map { ["passes": $0.passes, "memory": $0.memory] }
        return [
            "number": number, "kind": kind.name, "label": label, "created": Timestamp.text(created), "cost": cost,
            "recipient": recipient, "command": command, "is_in_use": isInUse,
        ]
    }

    /// What it is, in a line for people.
    var line: String {
        let what = kind.name.replacing("-", with: " ")
        let label = label.isEmpty ? "" : " \(label.quoted)"
        let cost = cost.map { " (Argon2id, \($0.passes) passes, \(Quantity.size($0.memory)))" } ?? ""
        // Somebody else may have written the text of a command.
        let detail = (recipient.map(StandardOutput.shown) ?? command?.quoted).map { ", \($0)" } ?? ""
        return "\(what)\(cost)\(label), since \(Timestamp.text(created))\(detail)"
    }
}
