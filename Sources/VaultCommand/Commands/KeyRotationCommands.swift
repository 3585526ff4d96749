import Formats
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
        let advice = try keychain.adviceForReplacedKey([(number ?? keychain.numberInUse): invocation.name])
        let isGenerated = try keychain.replaceKeyFile(number.map(keychain.key), by: invocation.name)
        if isGenerated {
            Notes.tellOfKeyFile(invocation.name)
        }
        return try invocation.finish(json: ["key_file": invocation.name, "made_key_file": isGenerated]) {
            """
            Replaced. The former key file opens this vault no more.
            \(advice)Its data key stays: whoever had the former key file may know it. Run `vault key rotate` if that \
            matters.

            """
        }
    }
}

enum KeyRotateCommand: Command {
    static let description = CommandDescription(
        name: .keyRotate, summary: "seal everything anew under a new data key",
        options: [.dropKey, .replaceKey, .fileOfKey],
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
            .init("vault key rotate --replace 1=new.key", "after others have had key 1 too"),
        ],
        exitCodes: [.init(.locked, "the secret of a key is missing or wrong; nothing was changed")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let choices = try KeyChoices(invocation)
        let keychain = try invocation.openVault()
        try choices.check(keychain)
        let advice = try keychain.adviceForReplacedKey(choices.replaced)
        let rotation = try invocation.withProgress("Sealing anew") { progress in
            try keychain.rotateDataKey(
                dropping: choices.keys(choices.dropped, of: keychain),
                replacing: choices.keys(choices.replaced.keys, of: keychain), progress: progress, choices.secret)
        }
        rotation.tell(invocation)
        let report: JSONObject = try [
            "fingerprint": keychain.fingerprint(), "dropped": choices.dropped.sorted(),
            "keys": rotation.keys.map(\.report),
        ]
        return try invocation.finish(json: report) {
            "Everything is sealed under a new data key.\n" + rotation.keys.openers + advice
                + keychain.advice(forRecipientsAmong: rotation.keys)
        }
    }
}

/// What is to become of a vault's keys, by their numbers.
struct KeyChoices {
    var dropped: Set<Int> = []
    /// The paths of the key files that replace keys.
    var replaced: [Int: String] = [:]
    var kept: Set<Int> = []
    /// The key files of keys that stay.
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

    /// Reads `NUMBER=PATH` pairs.
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

    /// Whether it is said what becomes of a key.
    func includes(_ number: Int) -> Bool {
        dropped.contains(number) || replaced[number] != nil || kept.contains(number)
    }

    /// Throws if a key does not exist, or two things are to become of it.
    func check(_ keychain: Keychain) throws {
        let numbers = Array(dropped) + replaced.keys + kept
        guard Set(numbers).count == numbers.count else { throw UsageError.oneChoiceOfKey }
        for number in numbers.sorted() { _ = try keychain.key(number) }
    }

    func keys(_ numbers: some Sequence<Int>, of keychain: Keychain) throws -> Set<Keychain.Key> {
        var keys: Set<Keychain.Key> = []
        for number in numbers { keys.insert(try keychain.key(number)) }
        return keys
    }

    /// Returns the new secret of a key that is replaced, or the one of a key that stays.
    func secret(of key: Keychain.Key) throws(VaultError) -> KeySecret? {
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
    fileprivate var numberInUse: Int { get throws { try vaultKeys().first(where: \.isInUse)?.number ?? 0 } }

    /// Returns how this machine opens the vault once key files replace keys: the former file may be needed for backups,
    /// so that it stays where it is.
    func adviceForReplacedKey(_ replaced: [Int: String]) throws -> String {
        guard let path = try replaced[numberInUse] else { return "" }
        return
            "From now on, open the vault with \(AdvisedCommand.option(OptionName.keyFile.spelling, path)), or set VAULT_KEY_FILE.\n"
    }

    /// What people who open the vault by an age identity have to be told after a rotation.
    func advice(forRecipientsAmong keys: [Key]) -> String {
        guard keys.contains(where: { $0.kind == .recipient }), let fingerprint = try? fingerprint() else { return "" }
        return "Tell the recipients the new fingerprint: \(fingerprint)\n"
    }
}

extension Keychain.Rotation {
    /// Tells where new key files are, and what the rotation has found.
    func tell(_ invocation: Invocation) {
        for path in generatedKeyFiles { Notes.tellOfKeyFile(path) }
        if !sharingNonces.isEmpty {
            warn(
                "Different values were sealed under one nonce, so that who knew one of them could forge the others. "
                    + "Somebody who could open the vault has done that. They are sealed apart now; set them anew:",
                of: sharingNonces, invocation)
        }
        if !unopened.isEmpty {
            warn(
                "A present or earlier value of these does not open. It was damaged or tampered with before, and is as "
                    + "it was; restore it from a backup, or set it anew:", of: unopened, invocation)
        }
    }

    private func warn(_ message: String, of names: [String], _ invocation: Invocation) {
        let error = CommandError(code: "damaged", exit: .damaged, message: message + CommandError.lines(names))
        Notes.warn(error, asJSON: invocation.wantsJSON)
    }
}

extension OptionDescription {
    static let dropKey = OptionDescription(
        name: .drop, value: "NUMBER", isRepeatable: true, help: "Remove this key first; its secret is not needed.")
    static let replaceKey = OptionDescription(
        name: .replace, value: "NUMBER=PATH", isRepeatable: true,
        help: "Let this key file open the vault instead of a key. It is generated if it does not exist.")
    static let fileOfKey = OptionDescription(
        name: .file, value: "NUMBER=PATH", isRepeatable: true,
        help: "The key file of another key that stays. Without it, that key has to be dropped or replaced.")
}
