import Vault

enum ListCommand: Command {
    static let description = CommandDescription(
        name: .list,
        summary: "list the names",
        arguments: [
            ArgumentDescription(
                name: "PREFIX", count: .optional, completion: .secretName, help: "List only names that begin with it.")
        ],
        options: [ItemList.longOption],
        details: [
            "One name per line, sorted bytewise. No match is not an error.",
            ItemList.completeness,
        ],
        examples: [
            .init(line: "vault ls ssh/", meaning: "the names that begin with ssh/"),
            .init(line: "vault ls --json", meaning: "everything but the values, for programs"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let prefix = session.invocation.arguments.first ?? ""
        try ItemList(session.openVault().listing(prefix: prefix)).print(session)
        return .success
    }
}

enum FindCommand: Command {
    static let description = CommandDescription(
        name: .find,
        summary: "list names by attributes or parts of the name",
        arguments: [
            ArgumentDescription(
                name: "KEY=VALUE|WORD", count: .oneOrMore,
                help: "An attribute of the name, or a part of the name in upper or lower case.")
        ],
        options: [ItemList.longOption],
        details: [
            "All conditions must match. No match is not an error.",
            "KEY=VALUE matches parts of names too: `vault find q=1` also lists \"search?q=1\".",
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

    /// Whether a word is part of a name, in upper or lower case.
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

// MARK: - What both write

/// Lists entries, never their values. Writes each one as soon as it is read.
struct ItemList {
    /// `--long`, for the commands that list.
    static let longOption = OptionDescription(
        name: .long, short: "l", help: "Show size in bytes, kind and time of last change before each name.")

    /// For the help of these commands.
    static let completeness = "The list is written while the vault is read: it is complete only if the exit code is 0."

    private let listing: ItemListing
    private let isIncluded: (Item) -> Bool

    init(_ listing: ItemListing, where isIncluded: @escaping (Item) -> Bool = { _ in true }) {
        self.listing = listing
        self.isIncluded = isIncluded
    }

    /// Writes the entries in the form that was asked for.
    func print(_ session: Session) throws {
        var output = OutputBuffer()
        if session.wantsJSON {
            try writeJSON(to: &output)
        } else if session.invocation.has(.long) {
            try writeLongLines(to: &output, session)
        } else {
            try forEach { item in try output.append(session.shown(item.name) + "\n") }
        }
        try output.finish()
    }

    /// Calls `body` for the same entries each time, whatever is written to the vault meanwhile.
    private func forEach(_ body: (Item) throws -> Void) throws {
        var listing = listing
        while let item = try listing.next() {
            if isIncluded(item) { try body(item) }
        }
    }

    /// Writes one line per entry: size, kind, time and name, aligned. The name is last because it may contain spaces.
    private func writeLongLines(to output: inout OutputBuffer, _ session: Session) throws {
        var (largest, kinds) = (0, Set<ValueKind>())
        // Reading twice for the columns' widths costs less than keeping all lines in memory.
        try forEach { item in
            largest = max(largest, item.size)
            kinds.insert(item.kind)
        }
        let sizeWidth = String(largest).utf8.count
        let kindWidth = kinds.map(\.description.utf8.count).max() ?? 0
        try forEach { item in
            try output.append(TextLayout.padded(String(item.size), to: sizeWidth, onLeft: true) + "  ")
            try output.append(TextLayout.padded(item.kind.description, to: kindWidth) + "  ")
            try output.append(item.modified)
            try output.append("  " + session.shown(item.name) + "\n")
        }
    }
}

// MARK: - JSON

extension ItemList {
    /// Writes what ``JSONText`` would: sorted keys, all on one line.
    private func writeJSON(to output: inout OutputBuffer) throws {
        try output.append(#"{"items":["#)
        var separator = ""
        try forEach { item in
            try output.append(separator)
            try ItemList.write(item, to: &output)
            separator = ","
        }
        try output.append("]}\n")
    }

    private static func write(_ item: Item, to output: inout OutputBuffer) throws {
        try output.append(#"{"attributes":{"#)
        var separator = ""
        for (key, value) in item.attributes.sorted(by: { $0.key < $1.key }) {
            try output.append(separator)
            try output.append(json: key)
            try output.append(":")
            try output.append(json: value)
            separator = ","
        }
        try output.append(#"},"created":""#)
        try output.append(item.created)
        try output.append(#"","kind":""# + item.kind.description)
        try output.append(#"","modified":""#)
        try output.append(item.modified)
        try output.append(#"","name":"#)
        try output.append(json: item.name)
        try output.append(#","size":\#(item.size)}"#)
    }
}
