import Formats
import LinuxSystem
import Vault

enum KeyReplaceCommand: Command {
    static let description = CommandDescription(
        name: .keyReplace, section: .keys, summary: "replace a key file with another one",
        arguments: [.init(name: "PATH", completion: .file, help: "The new key file; generated if it is missing.")],
        options: [.init(name: .key, value: "NUMBER", help: "The key to replace (default: the one in use).")],
        details: """
            Nothing is resealed. Anyone who has the old key file can still open older copies of the vault. The data \
            key in such a copy also opens the current file. Rotate the data key with `vault key rotate`.
            """,
        exitCodes: [.init(.refused, "the new key file already opens the vault")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let number = try invocation.number(of: .key)
        let keychain = try invocation.openVault()
        let advice = try keychain.adviceForReplacedKey(
            [number ?? keychain.numberInUse ?? 0: invocation.name], invocation)
        var advised = AdvisedCommand(invocation)
        if !advice.isEmpty { advised = advised.withKeyFile(AdvisedCommand.word(absolutePath(invocation.name))) }
        let isGenerated = try keychain.vaultKeys.replaceKeyFile(number.map(keychain.key), by: invocation.name)
        if isGenerated { Notes.reportKeyFile(invocation.name) }
        return try invocation.finish(json: ["key_file": invocation.name, "made_key_file": isGenerated]) {
            """
            Replaced. The old key file no longer opens this vault.
            \(advice)The data key is unchanged, and anyone who had the old key file may know it. If that matters, \
            rotate it: `\(advised.line("key rotate"))`

            """
        }
    }
}

enum KeyRotateCommand: Command {
    static let description = CommandDescription(
        name: .keyRotate, section: .keys, summary: "replace the data key, and seal everything under the new one",
        options: [.dropKey, .replaceKey, .fileOfKey],
        details: """
            Replaces the vault file with a new one, in which the old data key opens nothing. Other processes can write \
            at the same time. Apart from the key in use, each key that is kept needs its secret. vault asks for \
            passphrases, runs commands, and reads key files given with --file. A recipient needs only its public key.

            Users who open the vault with an age identity have to compare the vault's new fingerprint, which `vault \
            key ls` shows. Backups made before the rotation still open with the old keys.
            """,
        examples: [
            .init("vault key rotate", "rotate a vault with a single key"),
            .init("vault key rotate --drop 3", "remove key 3 after it was stolen"),
            .init("vault key rotate --replace 1=new.key", "rotate, and replace key 1, to which others had access"),
        ],
        exitCodes: [.init(.locked, "the secret of a key is missing or wrong; nothing was changed")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let choices = try KeyChoices(invocation)
        let keychain = try invocation.openVault()
        try choices.check(keychain)
        let advice = try keychain.adviceForReplacedKey(choices.replaced, invocation)
        let rotation = try invocation.withProgress("Resealing") { progress in
            try keychain.vaultKeys.rotateDataKey(
                dropping: choices.keys(choices.dropped, of: keychain),
                replacing: choices.keys(choices.replaced.keys, of: keychain), progress: progress, choices.secret)
        }
        rotation.report(invocation)
        let report: JSONObject = try [
            "fingerprint": keychain.vaultKeys.fingerprint(), "dropped": choices.dropped.sorted(),
            "keys": rotation.keys.map(\.report),
        ]
        return try invocation.finish(json: report) {
            "Everything is now sealed under a new data key.\n" + rotation.keys.openers + advice
                + keychain.advice(forRecipientsAmong: rotation.keys)
        }
    }
}

/// The user's decision about each key of a vault: drop, replace or keep it. Keys are identified by their numbers.
struct KeyChoices {
    var dropped: Set<Int> = []
    /// The paths of new key files, by the number of the key that each one replaces.
    var replaced: [Int: String] = [:]
    var kept: Set<Int> = []
    /// For keys to keep, the paths of their current key files, by key number.
    private var files: [Int: String] = [:]

    init(_ invocation: Invocation) throws(UsageError) {
        for text in invocation.options[.drop] ?? [] {
            dropped.insert(try invocation.number(text, OptionName.drop.spelling))
        }
        for text in invocation.options[.keep] ?? [] {
            kept.insert(try invocation.number(text, OptionName.keep.spelling))
        }
        replaced = try KeyChoices.paths(invocation.options[.replace] ?? [], .replace)
        files = try KeyChoices.paths(invocation.options[.file] ?? [], .file)
        kept.formUnion(files.keys)
    }

    /// Parses `NUMBER=PATH` pairs, and returns the paths by key number.
    private static func paths(_ pairs: [String], _ option: OptionName) throws(UsageError) -> [Int: String] {
        var paths: [Int: String] = [:]
        for pair in pairs {
            guard let (number, path) = Attributes.split(pair), let number = Int(number), number > 0, !path.isEmpty,
                paths.updateValue(path, forKey: number) == nil
            else { throw .badKeyFile(option.spelling) }
        }
        return paths
    }

    var isEmpty: Bool { dropped.isEmpty && replaced.isEmpty && kept.isEmpty }

    func includes(_ number: Int) -> Bool {
        dropped.contains(number) || replaced[number] != nil || kept.contains(number)
    }

    /// Throws if a chosen key does not exist or is chosen twice, or if a file is given for the key in use.
    func check(_ keychain: Keychain) throws {
        let numbers = Array(dropped) + replaced.keys + kept
        guard Set(numbers).count == numbers.count else { throw UsageError.oneChoiceOfKey }
        for number in numbers.sorted() { _ = try keychain.key(number) }
        if let number = try keychain.numberInUse, files[number] != nil {
            throw CommandError.invalid("Key \(number) opened the vault, so its file is not needed again. Omit it.")
        }
    }

    func keys(_ numbers: some Sequence<Int>, of keychain: Keychain) throws -> Set<Keychain.VaultKeys.Key> {
        try Set(numbers.map { try keychain.key($0) })
    }

    /// Returns a replaced key's new secret, or a kept key's current one, for which it may prompt; nil if it gets none.
    func secret(of key: Keychain.VaultKeys.Key) throws(VaultError) -> KeySecret? {
        if let path = replaced[key.number] { return try .keyFile(path) }
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

extension Keychain {
    fileprivate var numberInUse: Int? { get throws { try vaultKeys.all().first(where: \.isInUse)?.number } }

    /// Returns a line that says how to open the vault from now on; empty if the key in use was not replaced. The old
    /// key file is not deleted, because backups of the vault may need it.
    func adviceForReplacedKey(_ replaced: [Int: String], _ invocation: Invocation) throws -> String {
        guard let number = try numberInUse, let path = replaced[number] else { return "" }
        return "From now on, open the vault with \(AdvisedCommand(invocation).keyFileSetting(path)).\n"
    }

    /// Returns a line that asks the user to give the recipients the new fingerprint; empty if there are no recipients.
    func advice(forRecipientsAmong keys: [VaultKeys.Key]) -> String {
        guard keys.contains(where: { $0.kind == .recipient }), let fingerprint = try? vaultKeys.fingerprint() else {
            return ""
        }
        return "Give the recipients the new fingerprint: \(fingerprint)\n"
    }
}

extension Keychain.VaultKeys.Rotation {
    /// Reports the locations of new key files, and the entries in which the rotation has found problems.
    func report(_ invocation: Invocation) {
        for path in generatedKeyFiles { Notes.reportKeyFile(path) }
        if !sharingNonces.isEmpty {
            warn(
                "Different values were sealed under the same nonce, so anyone who knew one could forge the others. "
                    + "Someone with access to the vault caused this. The values have new nonces now. Set them again:",
                of: sharingNonces, invocation)
        }
        if !unopened.isEmpty {
            warn(
                "A current or earlier value of these entries cannot be opened. It was damaged or altered earlier, "
                    + "and was kept unchanged. Restore it from a backup, or set it again:", of: unopened, invocation)
        }
    }

    private func warn(_ message: String, of names: [String], _ invocation: Invocation) {
        let error = CommandError(code: "damaged", exit: .damaged, message: message + CommandError.lines(names))
        Notes.warn(error, asJSON: invocation.wantsJSON)
    }
}

extension OptionDescription {
    static let dropKey = OptionDescription(
        name: .drop, value: "NUMBER", isRepeatable: true, help: "Remove this key; its secret is not needed.")
    static let replaceKey = OptionDescription(
        name: .replace, value: "NUMBER=PATH", isRepeatable: true,
        help: "Replace a key with this key file, which is generated if it does not exist.")
    static let fileOfKey = OptionDescription(
        name: .file, value: "NUMBER=PATH", isRepeatable: true,
        help: "The key file of another key to keep. If you do not have this file, drop or replace the key.")
}
