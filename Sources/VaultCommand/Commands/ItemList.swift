import Vault

/// What lists tell of the entries, never their values. Each entry is written as soon as it is read.
struct ItemList {
    /// `--long`, for the commands that list.
    static let longOption = OptionDescription(
        name: .long, short: "l", help: "Show size in bytes, kind and time of the last change before each name.")

    /// For the help of these commands.
    static let completeness = "The list is written while the vault is read: it is complete if the exit code is 0."

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

    /// Each round goes through the same entries, whatever is written to the vault meanwhile.
    private func forEach(_ body: (Item) throws -> Void) throws {
        var listing = listing
        while let item = try listing.next() {
            if isIncluded(item) { try body(item) }
        }
    }

    /// One line an entry: size, kind, time and name, aligned; the name comes last since it may hold spaces.
    private func writeLongLines(to output: inout OutputBuffer, _ session: Session) throws {
        var (largest, kinds) = (0, Set<ValueKind>())
        // A round just for the columns' widths costs little beside the memory that the lines would take.
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
    /// The same as ``JSONText`` writes: the keys sorted, all on one line.
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
