import FoundationEssentials
import Glibc
import Vault

enum SetCommand: Command {
    static let description = CommandDescription(
        name: .set, section: .values, summary: "store a value under a name",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name, such as u.token or ssh/key.")],
        options: [
            .init(
                name: .attribute, short: "a", value: "KEY=VALUE", isRepeatable: true,
                help: "An attribute to find the entry by. Existing attributes are kept."),
            .init(
                name: .file, value: "PATH", completion: .file,
                help: "Read the value from a file, byte for byte; - is standard input."),
            .init(
                name: .type, value: "TYPE", choices: ValueType.allCases.map(\.rawValue),
                help: "The type for programs: bool, int, real, string, data, date or json."),
            .init(
                name: .expires, value: "TIME|DATE",
                help: "When the name expires: 12h or 90d from now, or a date (UTC) such as 2027-01-31."),
            .init(name: .ifAbsent, help: "Store nothing if the name exists. This is not an error."),
            .init(name: .exact, help: "Keep the input byte for byte, including a final newline."),
            .init(name: .allowEmpty, help: "Allow an empty value, which is otherwise an error."),
        ],
        details: """
            The value is never an argument. At a terminal you type it twice, hidden. From a pipe it is read to the \
            end. If the input is a single line, its final newline is not part of the value. Newlines in longer input \
            are part of the value, and so are carriage returns. A value may be any bytes, up to 16 MiB.

            The prompt refuses a NAME with an equals sign, since in `vault set NAME=VALUE` the value would become part \
            of a name.

            At the prompt, Backspace, Ctrl-W and Ctrl-U erase a character, a word and the line, Ctrl-V takes the next \
            byte literally, and Ctrl-D on an empty line cancels. Other control keys, arrows and function keys are \
            ignored.

            Without --type a value is bytes, which a program can read as a string, data, a URL or a UUID. With --type, \
            int is for all integer types, real for Double and Float, and json for arrays and dictionaries. A date is \
            in UTC, such as 2026-01-31T09:05:00Z. White space around the text of these types is ignored.

            Creates the vault and key file on first use, and prints where. In folders for mounted secrets, no key file \
            is created; see `vault help locations`.

            A replaced value becomes part of the history for some time, and `vault restore` brings it back. At a \
            terminal, a message reports the replacement. Attributes are kept; `vault attr` removes them. The previous \
            expiry is dropped, so without --expires the value does not expire.

            The parts of one login are the entries NAME, for the password, and NAME.FIELD, for further secrets such as \
            NAME.otp and NAME.notes. Information that is not secret is an attribute, such as username. See `vault show`.
            """,
        examples: [
            .init("vault set u.token", "type the value"),
            .init("gh auth token | vault set github -a host=github.com", "store the output of a program"),
            .init("vault set ssh/key --file ~/.ssh/id_ed25519", "store a file"),
            .init("vault set bank -a policy=run", "allow only `vault run` to read it; see `vault help log`"),
            .init("echo 42 | vault set mail/limit --type int", "store an Int for the program mail"),
            .init("vault set web/shop -a username=mia --expires 90d", "store a login for three months"),
        ],
        exitCodes: [
            .init(.usage, "the value is empty, too large or of the wrong type, or was given as an argument"),
            .init(.refused, "the two inputs at the prompt differ, or were cancelled by Ctrl-D"),
        ],
        mayHoldSecrets: true)

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let attributes = try Attributes.parse(invocation.options[.attribute] ?? [])
        let expires = try invocation.expiry
        try ReadingPolicy.checkInput(attributes, addedTo: invocation.name, AdvisedCommand(invocation))
        // The name and the value are checked first, so that no vault is created if one of them is invalid.
        try Naming.name.check(invocation.name)
        let type = invocation.value(of: .type).flatMap(ValueType.init)
        let isAsked = try asksForValue(invocation)
        if isAsked, try exists(invocation), invocation.has(.ifAbsent) {
            return try finish(.kept, size: nil, expires: nil, in: nil, invocation)
        }
        let text = try readValue(invocation, type, isAsked: isAsked)
        try type?.check(text)
        guard text.count > 0 || invocation.has(.allowEmpty) else {
            throw CommandError.invalid("The value is empty; nothing was stored. Use --allow-empty to store it.")
        }
        let value = try sealable(text, type, for: invocation.name)
        let keychain = try invocation.openVault(creatingIfAbsent: true)
        let outcome = try keychain.put(
            invocation.name, value, adding: attributes, expires: expires, replacing: !invocation.has(.ifAbsent))
        return try finish(outcome, size: value.bytes.count, expires: expires, in: keychain, invocation)
    }

    /// - Parameter keychain: the vault; nil if the command did not try to store anything.
    private static func finish(
        _ outcome: Keychain.PutOutcome, size: Int?, expires: Date?, in keychain: Keychain?, _ invocation: Invocation
    ) throws -> ExitCode {
        let exit = try invocation.finish(
            json: report(name: invocation.name, size: size, outcome, expires: expires).marked(by: keychain))
        // The result is reported only at a terminal, because scripts store values all the time.
        if StandardError.isTerminal, !invocation.wantsJSON {
            let name = invocation.name.forTerminal
            let sentence =
                switch outcome {
                case .kept: "\(name) already exists; it was left alone."
                case .stored: "Stored \(name)."
                case .replaced: try replacement(of: invocation.name, in: keychain, invocation)
                }
            Notes.inform(sentence + (expires.map { " It expires at \(Timestamp.text($0))." } ?? ""))
        }
        if let keychain { invocation.reportPolicies(of: [invocation.name], in: keychain) }
        keychain?.maintenance.finishUpkeep()
        return exit
    }

    /// Returns a message about the replaced value, because the user may not have known that the entry existed.
    static func replacement(
        of name: String, in keychain: Keychain?, _ invocation: Invocation
    ) throws -> String {
        let isKept = try keychain.map { try $0.history.retention().versions > 0 } ?? false
        let restoring = AdvisedCommand(invocation).line("restore \(AdvisedCommand.name(name))")
        return "Replaced the value of \(name.forTerminal). "
            + (isKept ? "`\(restoring)` brings the old value back." : "The old value was not kept.")
    }

    static func report(name: String, size: Int?, _ outcome: Keychain.PutOutcome, expires: Date?) -> JSONObject {
        [
            "name": name, "size": outcome == .kept ? nil : size, "stored": outcome != .kept,
            "replaced": outcome == .replaced, "expires": outcome == .kept ? nil : expires.map(Timestamp.text),
        ]
    }

    private static func sealable(
        _ text: consuming SecretBytes, _ type: ValueType?, for name: String
    ) throws -> SealableValue {
        guard let type else { return SealableValue(kind: .unspecified, bytes: text) }
        return try type.value(text, for: name)
    }

    /// - Parameter isAsked: whether to ask the user for the value; see ``asksForValue(_:)``.
    static func readValue(_ invocation: Invocation, _ type: ValueType?, isAsked: Bool) throws -> SecretBytes {
        if isAsked { return try ValueInput.ask(for: invocation.name) { try type?.check($0) } }
        let path = invocation.value(of: .file)
        if let path, path != "-" { return try ValueInput.readFile(at: path) }
        let isExact = path != nil || invocation.has(.exact)
        return try ValueInput.read(from: STDIN_FILENO, named: "Standard input", isExact: isExact)
    }

    /// Returns whether no file is given and standard input is a terminal, so that the user is asked for the value.
    static func asksForValue(_ invocation: Invocation) throws(UsageError) -> Bool {
        guard !invocation.has(.file), isatty(STDIN_FILENO) == 1 else { return false }
        // In `vault set token=secret`, the user means a value, but the secret would become part of a visible name.
        guard !invocation.name.utf8.contains(UInt8(ascii: "=")) else { throw .valueInName }
        return true
    }

    /// Returns whether the entry exists. Called before the prompt, so that a locked vault, or an existing entry with
    /// `--if-absent`, ends the command before the user types the secret.
    private static func exists(_ invocation: Invocation) throws -> Bool {
        // A vault that does not exist is not created here, because the user has not typed the value yet.
        try invocation.openVaultIfAny()?.exists(invocation.name) ?? false
    }
}
