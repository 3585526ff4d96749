import Sealing
import Vault

enum KeyReplaceCommand: Command {
    static let description = CommandDescription(
        name: .keyReplace, summary: "let another key file open the vault, instead of one",
        arguments: [
            .init(name: "PATH", completion: .file, help: "The new key file. It is generated if it does not exist.")
        ],
        options: [.init(name: .key, value: "NUMBER", help: "Which key (default: the one that opens the vault now).")],
        details: [
            """
            Nothing is sealed anew. Whoever has the former key file can still open older copies of the vault, and \
            with the data key in them the present file too. `vault key rotate` helps against that.
            """
        ],
        exitCodes: [.init(.refused, "the new key file opens the vault already")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let number = try invocation.number(of: .key)
        let keychain = try invocation.openVault()
        let isGenerated = try keychain.replaceKeyFile(number.map(keychain.key), by: invocation.name)
        if isGenerated {
            Notes.tellOfKeyFile(invocation.name)
        }
        return try invocation.finish(json: ["key_file": invocation.name, "made_key_file": isGenerated]) {
            """
            Replaced. The former key file opens this vault no more.
            Its data key stays: whoever had the former key file may know it. Run `vault key rotate` if that matters.

            """
        }
    }
}

enum KeyRotateCommand: Command {
    static let description = CommandDescription(
        name: .keyRotate, summary: "seal everything anew under a new data key",
        options: [
            .init(
                name: .drop, value: "NUMBER", isRepeatable: true,
                help: "Remove this key first; its secret is not needed."),
            .init(
                name: .file, value: "NUMBER=PATH", isRepeatable: true,
                help: "Where the key file of another key is. Without it, that key has to be dropped."),
        ],
        details: [
            """
            A new file takes the place of the old one, in which the old data key opens nothing. Others may write \
            meanwhile. Each other key that stays needs its secret: passphrases are asked for, key files are named with \
            --file, commands are run, and for recipients the public key is enough.
            """,
            """
            Who opens the vault by an age identity has to compare its new fingerprint, which `vault key ls` shows. \
            Backups that were made before still open with the old keys.
            """,
        ],
        examples: [
            .init("vault key rotate", "if there is one key"),
            .init("vault key rotate --drop 3", "after key 3 got into wrong hands"),
        ],
        exitCodes: [.init(.locked, "the secret of a key is missing or wrong; nothing was changed")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let files = try keyFiles(invocation.options[.file] ?? [])
        let dropped = try (invocation.options[.drop] ?? []).map { try invocation.number($0, OptionName.drop.spelling) }
        let keychain = try invocation.openVault()
        for number in files.keys.sorted() { _ = try keychain.key(number) }
        // Not afterwards: a server that goes away then would make a failure of what is done.
        let hasRecipients = try keychain.vaultKeys().contains {
            $0.kind == .recipient && !dropped.contains($0.number)
        }
        try rotate(keychain, invocation, dropping: Set(dropped.map(keychain.key)), files: files)
        let fingerprint = try keychain.fingerprint()
        return try invocation.finish(json: ["fingerprint": fingerprint, "dropped": dropped]) {
            let advice = hasRecipients ? "Tell the recipients the new fingerprint: \(fingerprint)\n" : ""
            return "Everything is sealed under a new data key.\n" + advice
        }
    }
}

extension KeyRotateCommand {
    /// - Parameter files: where the key files of keys are, by their numbers.
    static func rotate(
        _ keychain: Keychain, _ invocation: Invocation, dropping dropped: Set<Keychain.Key> = [],
        files: [Int: String] = [:]
    ) throws {
        let rotation = try invocation.withProgress("Sealing anew") { progress in
            try keychain.rotateDataKey(dropping: dropped, progress: progress) { (key) throws(VaultError) in
                let path = files[key.number]
                guard [.passphrase, .passphraseWithKeyFile].contains(key.kind) else {
                    guard let path else { return nil }
                    return try .keyFile(path)
                }
                guard key.kind == .passphrase || path != nil,
                    let text = try PassphrasePrompt.ask("Passphrase of key \(key.number)\(key.shownLabel): ")
                else { return nil }
                return .passphrase(text, withKeyFile: path)
            }
        }
        if !rotation.sharingNonces.isEmpty {
            warn(
                "Different values were sealed under one nonce, so that who knew one of them could forge the others. "
                    + "Somebody who could open the vault has done that. They are sealed apart now; set them anew:",
                of: rotation.sharingNonces, invocation)
        }
        if !rotation.unopened.isEmpty {
            warn(
                "A present or earlier value of these does not open. It was damaged or tampered with before, and is as "
                    + "it was; restore it from a backup, or set it anew:", of: rotation.unopened, invocation)
        }
    }

    private static func warn(_ message: String, of names: [String], _ invocation: Invocation) {
        let error = CommandError(code: "damaged", exit: .damaged, message: message + CommandError.lines(names))
        Notes.warn(error, asJSON: invocation.wantsJSON)
    }

    /// Reads `NUMBER=PATH` pairs.
    private static func keyFiles(_ pairs: [String]) throws(UsageError) -> [Int: String] {
        var files: [Int: String] = [:]
        for pair in pairs {
            guard let (number, path) = Attributes.split(pair), let number = Int(number), number > 0, !path.isEmpty,
                files.updateValue(path, forKey: number) == nil
            else { throw .badKeyFile }
        }
        return files
    }
}

extension Keychain.Key {
    fileprivate var shownLabel: String { label.isEmpty ? "" : " (\(label.forTerminal))" }
}
