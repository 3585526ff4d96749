import Glibc
import Vault

enum PreferenceGetCommand: Command {
    static let description = CommandDescription(
        name: .preferenceGet, section: .preferences, summary: "write a preference to standard output",
        arguments: [.init(name: "KEY", help: "The key.")],
        options: [SuiteFile.option, ValueForm.newlineOption],
        details: """
            Writes values in the form of `vault get`: dates in UTC, arrays and dictionaries as JSON.

            \(SuiteFile.whichFile)
            """,
        examples: [.init("vault prefs get --suite mail theme", "show the `theme` of the program mail")],
        exitCodes: [
            .init(.notFound, "no such key; a similar one is suggested"),
            .init(.damaged, "the property list is damaged; it was left alone"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let suite = try SuiteFile(invocation)
        let key = invocation.name
        guard let value = try suite.value(of: key) else { throw try suite.absent(key) }
        return try invocation.finish(SealableValue(value, for: key), of: key)
    }
}

enum PreferenceSetCommand: Command {
    static let description = CommandDescription(
        name: .preferenceSet, section: .preferences, summary: "store a preference in a plain property list",
        arguments: [
            .init(name: "KEY", help: "The key."),
            .init(name: "VALUE", count: .optional, help: "The value (default: read from standard input)."),
        ],
        options: [
            SuiteFile.option,
            .init(
                name: .type, value: "TYPE", choices: ValueType.allCases.map(\.rawValue),
                help: "The type for programs: string (default), bool, int, real, data, date or json."),
        ],
        details: """
            Preferences are not secret. They are stored in plain text, in a file that any property-list tool can \
            read. Store secrets with `vault set` instead. Other keys of the file keep their values and types.

            Put -- before a VALUE that begins with a dash. `vault help set` describes the types.

            \(SuiteFile.whichFile)
            """,
        examples: [
            .init("vault prefs set --suite mail theme dark", "set a String for the program mail"),
            .init("vault prefs set --suite mail limit --type int -- -1", "set a negative number"),
        ],
        exitCodes: [
            .init(.usage, "the value does not match the type"),
            .init(.damaged, "the property list is damaged; it was left alone"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let suite = try SuiteFile(invocation)
        let key = invocation.name
        let type = invocation.value(of: .type).flatMap(ValueType.init) ?? .string
        let value = try StoredValue(type.value(readText(invocation), for: key), of: key)
        try suite.commit([key: value])
        return try invocation.finish(json: ["name": key, "file": suite.path])
    }

    private static func readText(_ invocation: Invocation) throws -> SecretBytes {
        if invocation.arguments.count > 1 { return try SecretBytes(utf8: invocation.arguments[1]) }
        guard isatty(STDIN_FILENO) == 0 else { throw UsageError.missingArgument("VALUE", of: .preferenceSet) }
        return try ValueInput.read(from: STDIN_FILENO, named: "Standard input", isExact: false)
    }
}

enum PreferenceListCommand: Command {
    static let description = CommandDescription(
        name: .preferenceList, section: .preferences, summary: "list the keys of preferences",
        arguments: [.init(name: "PREFIX", count: .optional, help: "List only keys with this prefix.")],
        options: [
            SuiteFile.option, .init(name: .long, short: "l", help: "Show the kind of each value before its key."),
        ],
        details: """
            Prints one key per line, sorted bytewise. No match and a missing file are not errors.

            \(SuiteFile.whichFile)
            """,
        examples: [.init("vault prefs ls --suite mail -l", "list the keys and kinds of the program mail")],
        exitCodes: [.init(.damaged, "the property list is damaged")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let suite = try SuiteFile(invocation)
        let items = try suite.contents(prefix: invocation.arguments.first ?? "").map { key, value in
            (name: key, kind: try SealableValue(value, for: key).kind.description)
        }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let json: JSONObject = ["file": suite.path, "items": items.map { ["name": $0.name, "kind": $0.kind] }]
        let width = items.map(\.kind.utf8.count).max() ?? 0
        return try invocation.finish(json: json) {
            items.map { item in
                let kind = invocation.has(.long) ? TextLayout.padded(item.kind, to: width) + "  " : ""
                return kind + StandardOutput.shown(item.name) + "\n"
            }.joined()
        }
    }
}

enum PreferenceRemoveCommand: Command {
    static let description = CommandDescription(
        name: .preferenceRemove, section: .preferences, summary: "remove preferences",
        arguments: [.init(name: "KEY", count: .oneOrMore, help: "A key to remove.")],
        options: [SuiteFile.option, .init(name: .force, short: "f", help: "Ignore keys that do not exist.")],
        details: """
            Removes all keys or, if one of them does not exist, none. This cannot be undone.

            \(SuiteFile.whichFile)
            """,
        examples: [.init("vault prefs rm --suite mail theme limit", "remove both, or neither if one is missing")],
        exitCodes: [
            .init(.notFound, "one of the keys does not exist; none was removed"),
            .init(.damaged, "the property list is damaged; it was left alone"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let suite = try SuiteFile(invocation)
        var changes: [String: StoredValue?] = [:]
        for key in invocation.arguments {
            if try suite.value(of: key) != nil {
                changes.updateValue(nil, forKey: key)
            } else if !invocation.has(.force) {
                throw try suite.absent(key)
            }
        }
        if !changes.isEmpty { try suite.commit(changes) }
        let removed = changes.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return try invocation.finish(json: ["removed": removed, "file": suite.path])
    }
}

/// The property list that the `prefs` commands read and change. These commands open no vault.
private struct SuiteFile {
    static let option = OptionDescription(
        name: .suite, value: "NAME", help: "The program that the preferences belong to (default: vault).")

    static let whichFile = """
        The file is vault/preferences/NAME.plist in $XDG_CONFIG_HOME (default: ~/.config). A program that uses the \
        library uses the suite with its own name, unless it chooses another.
        """

    let path: String
    private let preferences: Preferences

    /// Opens the suite that `--suite` names, or otherwise the suite of this program, `vault`.
    init(_ invocation: Invocation) throws {
        let preferences = Preferences(suite: invocation.value(of: .suite) ?? "vault")
        self.preferences = preferences
        path = try SuiteFile.translated { try preferences.path }
    }

    func value(of key: String) throws -> StoredValue? { try SuiteFile.translated { try preferences.value(of: key) } }

    func contents(prefix: String) throws -> [String: StoredValue] {
        try SuiteFile.translated { try preferences.contents(prefix: prefix) }
    }

    func commit(_ changes: [String: StoredValue?]) throws {
        _ = try SuiteFile.translated { try preferences.commit(StoreBatch(changes)) }
    }

    /// Returns the error for a missing key. It includes the file's path, because the user may have meant another suite.
    func absent(_ key: String) throws -> CommandError {
        let near = NearName.nearest(to: key, among: try contents(prefix: "").keys.sorted())
        let message = "No key \"\(key)\" in \(path).\(NearName.question(near))"
        return CommandError(code: "absent", exit: .notFound, message: message)
    }

    /// Runs `body`, and removes the hints from its errors, because those hints are about vaults, not preferences.
    private static func translated<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as VaultError {
            let row = CommandError.row(of: error.code)
            throw CommandError(code: row.code, exit: row.exit, message: error.message)
        }
    }
}
