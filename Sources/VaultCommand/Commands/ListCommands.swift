import Vault

enum ListCommand: Command {
    static let description = CommandDescription(
        name: .list, summary: "list the names",
        arguments: [
            .init(
                name: "PREFIX", count: .optional, completion: .secretName, help: "List only names that begin with it.")
        ],
        options: [ItemList.longOption, .detached],
        details: ["One name per line, sorted bytewise. No match is not an error.", ItemList.completeness],
        examples: [
            .init("vault ls ssh/", "the names that begin with ssh/"),
            .init("vault ls --json", "everything but the values, for programs"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let prefix = invocation.arguments.first ?? ""
        let keychain = try invocation.openVault()
        if invocation.wantsJSON || invocation.has(.long) {
            try ItemList(listing: keychain.listing(prefix: prefix)).print(invocation)
        } else {
            try ItemList.print(keychain.names(prefix: prefix))
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
                help: "An attribute of the name, or a part of the name in upper or lower case.")
        ],
        options: [ItemList.longOption],
        details: [
            "All conditions must match. No match is not an error.",
            "KEY=VALUE matches parts of names too: `vault find q=1` also lists \"search?q=1\".",
            ItemList.completeness,
        ],
        examples: [
            .init("vault find host=github.com", "by an attribute"),
            .init("vault find token user=mia", "by a part of the name and an attribute"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let words = invocation.arguments.map { (text: $0, attribute: Attributes.split($0)) }
        let list = try ItemList(listing: invocation.openVault().listing()) { item in
            words.allSatisfy { text, attribute in
                attribute.map { item.attributes[$0.key] == $0.value } == true || contains(item.name, text)
            }
        }
        try list.print(invocation)
        return .success
    }

    /// Whether a word is part of a name, in upper or lower case.
    static func contains(_ name: String, _ word: String) -> Bool {
        // The standard library's search takes 30 times as long.
        let (name, word) = (Array(name.lowercased().utf8), Array(word.lowercased().utf8))
        return name.count >= word.count && (0...name.count - word.count).contains { name[$0...].starts(with: word) }
    }
}

/// What `ls` and `find` write: entries, never their values, each as soon as it is read.
struct ItemList {
    static let longOption = OptionDescription(
        name: .long, short: "l", help: "Show size in bytes, kind and time of last change before each name.")

    static let completeness = "The list is written while the vault is read: it is complete only if the exit code is 0."

    let listing: ItemListing
    var isIncluded: (Keychain.Item) -> Bool = { _ in true }

    /// Writes nothing but the names.
    static func print(_ names: KeyListing) throws {
        var names = names
        var output = OutputBuffer()
        while let name = try names.next() {
            output.append(StandardOutput.shown(name) + "\n")
            try output.endEntry()
        }
        try output.finish()
    }

    func print(_ invocation: Invocation) throws {
        var output = OutputBuffer()
        if invocation.wantsJSON {
            try writeJSON(to: &output)
        } else if invocation.has(.long) {
            try writeLongLines(to: &output)
        } else {
            try forEach { item in
                output.append(StandardOutput.shown(item.name) + "\n")
                try output.endEntry()
            }
        }
        try output.finish()
    }

    /// Calls `body` for the same entries each time, whatever is written to the vault meanwhile.
    private func forEach(_ body: (Keychain.Item) throws -> Void) throws {
        var listing = listing
        while let item = try listing.next() {
            if isIncluded(item) { try body(item) }
        }
    }

    /// Writes one line per entry: size, kind, time and name, aligned. The name is last because it may contain spaces.
    private func writeLongLines(to output: inout OutputBuffer) throws {
        var (largest, kinds) = (0, Set<Keychain.ValueKind>())
        // Reading twice for the columns' widths costs less than keeping all lines in memory.
        try forEach { item in
            largest = max(largest, item.size)
            kinds.insert(item.valueKind)
        }
        let sizeWidth = String(largest).utf8.count
        let kindWidth = kinds.map(\.description.utf8.count).max() ?? 0
        try forEach { item in
            output.append(TextLayout.padded(String(item.size), to: sizeWidth, onLeft: true) + "  ")
            output.append(TextLayout.padded(item.kind, to: kindWidth) + "  ")
            output.append(item.modified)
            output.append("  " + StandardOutput.shown(item.name) + "\n")
            try output.endEntry()
        }
    }

    /// Writes what ``JSONObject`` would: sorted keys, all on one line.
    private func writeJSON(to output: inout OutputBuffer) throws {
        output.append(#"{"items":["#)
        var separator = ""
        try forEach { item in
            output.append(separator + #"{"attributes":{"#)
            separator = ""
            for (key, value) in item.attributes.sorted(by: { $0.key < $1.key }) {
                output.append(separator)
                output.append(json: key)
                output.append(":")
                output.append(json: value)
                separator = ","
            }
            output.append(#"},"created":""#)
            output.append(item.created)
            output.append(#"","expires":"#)
            if let expires = item.expires {
                output.append("\"")
                output.append(expires)
                output.append("\"")
            } else {
                output.append("null")
            }
            output.append(#","kind":""# + item.kind + #"","modified":""#)
            output.append(item.modified)
            output.append(#"","name":"#)
            output.append(json: item.name)
            output.append(#","size":\#(item.size)}"#)
            separator = ","
            try output.endEntry()
        }
        output.append("]}\n")
    }
}
