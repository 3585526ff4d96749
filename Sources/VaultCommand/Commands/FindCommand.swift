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
        details: [
            "All that is given must hold. Finding nothing is no error.",
            "KEY=VALUE is looked for in names too: `vault find q=1` also lists \"search?q=1\".",
            ItemList.completeness,
        ],
        examples: [
            .init(line: "vault find host=github.com", meaning: "by an attribute"),
            .init(line: "vault find token user=mia", meaning: "by a part of the name and an attribute"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let words = session.invocation.arguments.map { (text: $0, attribute: Attributes.split($0)) }
        let list = try ItemList(session.openVault().listing()) { item in
            words.allSatisfy { word in
                word.attribute.map { item.attributes[$0.key] == $0.value } ?? false
                    || contains(item.name, word.text)
            }
        }
        try list.print(session)
        return .success
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
