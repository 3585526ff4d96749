import FoundationEssentials
import Vault

enum ListCommand: Command {
    static let description = CommandDescription(
        name: .list, summary: "list the names",
        arguments: [
            .init(
                name: "PREFIX", count: .optional, completion: .secretName, help: "List only names that begin with it.")
        ],
        options: [
            ItemList.longOption,
            .init(
                name: .layout, value: "LAYOUT", choices: NameLayout.allCases.map(\.rawValue),
                help: "One name per line (names), as a tree (tree), or one level of folders (folders)."),
            .init(
                name: .expiring, value: "TIME",
                help: "List only names that expire within this time, such as 14d. Exit code 10 if there are any."),
            .detached,
        ],
        details: [
            """
            Lists a tree at a terminal, and otherwise one name per line, sorted bytewise. No match is not an error.
            """,
            "A name that has expired does not exist any more, so it is not listed.",
            ItemList.completeness,
        ],
        examples: [
            .init("vault ls ssh/", "the names that begin with ssh/"),
            .init("vault ls --layout folders", "the folders, and how many names are in each"),
            .init("vault ls --expiring 14d -l || mail -s 'secrets expire' mia", "in a cron job"),
            .init("vault ls --json", "everything but the values, for programs"),
        ],
        exitCodes: [.init(.expiring, "--expiring was given, and there are such names")])

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
        name: .find, summary: "list names by attributes or parts of the name",
        arguments: [
            .init(
                name: "KEY=VALUE|WORD", count: .oneOrMore,
                help: "An attribute of the name, a part of the name in upper or lower case, or a pattern for all of it."
            )
        ],
        options: [ItemList.longOption],
        details: [
            "All conditions must match. No match is not an error.",
            """
            In a pattern, * is any text, ? one character, and [a-z] one of some. VALUE may be a pattern too. Quote \
            patterns, or the shell takes them for files.
            """,
            "KEY=VALUE matches parts of names too: `vault find q=1` also lists \"search?q=1\".",
            ItemList.completeness,
        ],
        examples: [
            .init("vault find host=github.com", "by an attribute"),
            .init("vault find token user=mia", "by a part of the name and an attribute"),
            .init("vault find 'web/*.example' 'user=m*'", "by patterns"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let conditions = invocation.arguments.map(Condition.init)
        let list = try ItemList(listing: invocation.openVault().listing()) { item in
            conditions.allSatisfy { $0.holds(for: item) }
        }
        try list.print(invocation)
        return .success
    }

    /// One of the words that `find` gets.
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

    /// Whether a word is part of a name, in upper or lower case.
    static func contains(_ name: String, _ word: String) -> Bool {
        // The standard library's search takes 30 times as long.
        let (name, word) = (Array(name.lowercased().utf8), Array(word.lowercased().utf8))
        return name.count >= word.count && (0...name.count - word.count).contains { name[$0...].starts(with: word) }
    }
}
