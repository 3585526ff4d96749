import Vault

/// What lists tell of an entry: never its value.
struct ItemReport: Encodable {
    let name: String
    let size: Int
    let kind: String
    let created: String
    let modified: String
    let attributes: [String: String]

    init(_ item: Item) {
        name = item.name
        size = item.size
        kind = item.kind.description
        created = Timestamp.text(item.created)
        modified = Timestamp.text(item.modified)
        attributes = item.attributes
    }
}

struct ItemsReport: Encodable {
    let items: [ItemReport]

    init(_ items: [Item]) {
        self.items = items.map(ItemReport.init)
    }
}

enum ItemList {
    /// `--long`, for the commands that list.
    static let longOption = OptionDescription(
        name: .long, short: "l", help: "Show size in bytes, kind and time of the last change before each name.")

    /// One line a name, in the order given.
    static func lines(_ names: [String], _ session: Session) -> String {
        var text = ""
        for name in names { text += session.shown(name) + "\n" }
        return text
    }

    /// One line an entry: size, kind, time and name, aligned; the name comes last since it may hold spaces.
    static func longLines(_ items: [Item], _ session: Session) -> String {
        let sizes = items.map { String($0.size) }
        let kinds = items.map(\.kind.description)
        let sizeWidth = sizes.map(\.utf8.count).max() ?? 0
        let kindWidth = kinds.map(\.utf8.count).max() ?? 0
        var text = ""
        for (index, item) in items.enumerated() {
            text += TextLayout.padded(sizes[index], to: sizeWidth, onLeft: true) + "  "
            text += TextLayout.padded(kinds[index], to: kindWidth) + "  "
            text += Timestamp.text(item.modified) + "  " + session.shown(item.name) + "\n"
        }
        return text
    }

    /// The entries in the form that was asked for.
    static func print(_ items: [Item], _ session: Session) throws {
        try session.print(json: ItemsReport(items)) {
            session.invocation.has(.long) ? longLines(items, session) : lines(items.map(\.name), session)
        }
    }
}
