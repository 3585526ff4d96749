import FoundationEssentials
import Vault

enum ListCommand: Command {
    static let description = CommandDescription(
        name: .list, section: .values, changesNothing: true, summary: "list the names",
        arguments: [
            .init(
                name: "PREFIX", count: .optional, completion: .secretName,
                help: "List only names with this prefix.")
        ],
        options: [
            ItemList.longOption(" (with --expiring, the expiry)"),
            .init(
                name: .layout, value: "LAYOUT", choices: NameLayout.allCases.map(\.rawValue),
                help: "One name per line (names), as a tree (tree), or one level of folders (folders)."),
            .init(
                name: .expiring, value: "TIME",
                help: "List only names that expire within this time, such as 14d. Exit code 10 if any do."),
            .detached,
        ],
        details: """
            Prints a tree at a terminal, and otherwise one name per line, sorted bytewise. No match is not an error.

            An expired name no longer exists, so it is not listed.

            \(ItemList.completeness)
            """,
        examples: [
            .init("vault ls ssh/", "list the names that begin with ssh/"),
            .init("vault ls --layout folders", "list the folders, with the number of names in each"),
            .init("vault ls --expiring 14d -l || mail -s 'secrets expire' mia", "warn from a cron job"),
            .init("vault ls --json", "list everything but the values, for programs"),
        ],
        exitCodes: [.init(.expiring, "with --expiring: at least one name expires within TIME")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let prefix = invocation.arguments.first ?? ""
        let time = try invocation.duration(of: .expiring)
        let hasColumns = invocation.wantsJSON || invocation.has(.long)
        guard !hasColumns || !invocation.has(.layout) else { throw UsageError.oneListOnly }
        let layout = invocation.value(of: .layout).flatMap(NameLayout.init) ?? .standard
        let keychain = try invocation.openVault()
        if let time {
            var list = ItemList(listing: try keychain.listing(prefix: prefix))
            let end = Date().addingTimeInterval(Double(time.components.seconds))
            list.isIncluded = { item in item.expires.map { $0 <= end } ?? false }
            list.showsExpiry = true
            try list.print(invocation)
            return try list.isEmpty() ? .success : .expiring
        }
        if hasColumns {
            try ItemList(listing: keychain.listing(prefix: prefix)).print(invocation)
        } else {
            try layout.print(keychain.names(prefix: prefix), below: prefix)
        }
        return .success
    }
}

enum FindCommand: Command {
    static let description = CommandDescription(
        name: .find, section: .values, changesNothing: true, summary: "list names by attributes or parts of the name",
        arguments: [
            .init(
                name: "KEY=VALUE|WORD", count: .oneOrMore,
                help: "An attribute, a part of the name (ignoring case), or a pattern for the whole name."
            )
        ],
        options: [ItemList.longOption()],
        details: """
            All conditions must match. No match is not an error.

            In a pattern, * matches any text, ? one character, and [a-z] one character of a range. VALUE may be a \
            pattern too. Quote patterns, so that the shell does not expand them to file names.

            KEY=VALUE matches parts of names too: `vault find q=1` also lists "search?q=1".

            \(ItemList.completeness)
            """,
        examples: [
            .init("vault find host=github.com", "find by an attribute"),
            .init("vault find token user=mia", "find by part of the name and by attribute"),
            .init("vault find 'web/*.example' 'user=m*'", "find by patterns"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let conditions = invocation.arguments.map(Condition.init)
        let list = try ItemList(listing: invocation.openVault().listing()) { item in
            conditions.allSatisfy { $0.holds(for: item) }
        }
        try list.print(invocation)
        return .success
    }

    private struct Condition {
        let word: String
        let pattern: Glob?
        let attribute: (key: String, value: String, pattern: Glob?)?

        init(_ word: String) {
            self.word = word
            pattern = Glob(word)
            attribute = Attributes.split(word).map { ($0.key, $0.value, Glob($0.value)) }
        }

        func holds(for item: Keychain.Item) -> Bool {
            if let attribute, let value = item.attributes[attribute.key],
                attribute.pattern?.matches(value) == true || value == attribute.value
            {
                return true
            }
            return pattern?.matches(item.name) ?? FindCommand.contains(item.name, word)
        }
    }

    /// Returns whether a word occurs in a name, ignoring case.
    static func contains(_ name: String, _ word: String) -> Bool {
        // The standard library's search would take 30 times as long.
        let name = Array(name.lowercased().utf8)
        let word = Array(word.lowercased().utf8)
        return name.count >= word.count && (0...name.count - word.count).contains { name[$0...].starts(with: word) }
    }
}
