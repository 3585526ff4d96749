import Vault

enum FindCommand: Command {
    static let description = CommandDescription(
        name: .find,
        summary: "list the names with given attributes or words",
        arguments: [
            ArgumentDescription(
                name: "KEY=VALUE|WORD", count: .oneOrMore,
                help: "An attribute that the name has, or a part of the name in letters of either case.")
        ],
        options: [ItemList.longOption],
        details: ["All that is given must hold. Finding nothing is no error."],
        examples: [
            .init(line: "vault find host=github.com", meaning: "by an attribute"),
            .init(line: "vault find token user=mia", meaning: "by a part of the name and an attribute"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let (pairs, words) = split(session.invocation.arguments)
        let attributes = try Attributes.parse(pairs)
        let items = try session.openVault().items(attributes: attributes)
        try ItemList.print(items.filter { item in words.allSatisfy { contains(item.name, $0) } }, session)
        return .success
    }

    static func split(_ arguments: [String]) -> (pairs: [String], words: [String]) {
        (
            arguments.filter { $0.utf8.contains(UInt8(ascii: "=")) },
            arguments.filter { !$0.utf8.contains(UInt8(ascii: "=")) }
        )
    }

    /// Whether a word is part of a name, in letters of either case.
    static func contains(_ name: String, _ word: String) -> Bool {
        var rest = Array(name.lowercased().utf8)[...]
        let sought = Array(word.lowercased().utf8)
        while rest.count >= sought.count {
            if rest.starts(with: sought) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
