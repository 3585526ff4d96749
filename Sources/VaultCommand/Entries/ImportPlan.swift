import Formats
import SealedFormat
import Vault

/// The entries that an import creates from another program's items. The plan chooses their names, and decides which
/// parts of an item become values, attributes or fields; see ``Login``.
struct ImportPlan {
    /// The limits for an imported entry's attributes. They are below the vault's own limits (64 attributes and 8,000
    /// bytes), so that space is left for the entry's name and earlier versions.
    private static let attributeLimits = (count: 60, bytes: 6_000)

    let prefix: String
    private(set) var entries: [PlannedEntry] = []
    /// The names in the plan, compared bytewise. As strings, two spellings of an accented letter would be equal.
    private var names: Set<EntryName> = []
    /// For each proposed name, the last number tried in the search for an unused name. The number 1 is not appended.
    private var numbers: [String: Int] = [:]

    init(prefix: String) { self.prefix = prefix }

    /// Adds an entry without changing its name.
    ///
    /// - Throws: ``FormatError`` if the name is invalid or already in the plan.
    mutating func add(_ entry: PlannedEntry) throws(FormatError) {
        guard let name = EntryName(entry.name) else {
            throw FormatError(
                line: entry.line, "a name is empty, longer than 1,024 bytes, or contains a control character")
        }
        guard names.insert(name).inserted else { throw FormatError(line: entry.line, "a name occurs twice") }
        entries.append(entry)
    }

    mutating func removeAll(where isRemoved: (PlannedEntry) -> Bool) -> Int {
        let count = entries.count
        entries.removeAll(where: isRemoved)
        return count - entries.count
    }

    mutating func add(_ item: ImportedItem) throws {
        let parts = ItemParts(item)
        let name = freeName(for: item, fields: parts.fields.map(\.name))
        let value = try SealableValue(kind: .unspecified, bytes: SecretBytes(utf8: parts.value))
        try add(PlannedEntry(name, value, attributes: parts.attributes, expires: item.expires, line: item.line))
        for (field, text) in parts.fields {
            // A refresh token gets its login's attributes, so git's helper finds it even after the password expires.
            let isToken = field == Login.Field.refreshToken.rawValue
            let attributes = isToken ? parts.attributes.merging(["field": field]) { $1 } : [:]
            let value = try SealableValue(kind: .unspecified, bytes: SecretBytes(utf8: text))
            try add(PlannedEntry(Login.name(of: field, in: name), value, attributes: attributes, line: item.line))
        }
    }

    /// Returns a name for an item. Appends a number if the plan already contains the proposed name.
    private mutating func freeName(for item: ImportedItem, fields: [String]) -> String {
        let title = SafeName.component(item.title, or: "untitled")
        let folder = SafeName.folder(item.folder)
        let wanted = prefix + (folder.isEmpty ? title : "\(folder)/\(title)")
        while true {
            numbers[wanted, default: 0] += 1
            let number = numbers[wanted, default: 1]
            let name = number == 1 ? wanted : "\(wanted) (\(number))"
            let all = [name] + fields.map { Login.name(of: $0, in: name) }
            if names.isDisjoint(with: all.compactMap(EntryName.init)) { return name }
        }
    }

    /// The value, the attributes and the fields that an import creates from one item.
    private struct ItemParts {
        var value: String
        var attributes: [String: String] = [:]
        var fields: [(name: String, text: String)] = []
        private var attributeBytes = 0

        init(_ item: ImportedItem) {
            // Notes become the value only if the item is not a login. Otherwise they could be mistaken for a password.
            let isNote = item.password == nil && item.username == nil && item.otp == nil && item.urls.isEmpty
            value = item.password ?? (isNote ? item.notes : nil) ?? ""
            addAttribute(Login.AttributeKey.username, item.username)
            for (index, url) in item.urls.enumerated() {
                addAttribute(index == 0 ? Login.AttributeKey.url : "\(Login.AttributeKey.url).\(index + 1)", url)
            }
            addField(Login.Field.otp.rawValue, item.otp)
            if !isNote { addField(Login.Field.notes.rawValue, item.notes) }
            for detail in item.details {
                let name = SafeName.field(detail.name)
                if detail.isSecret { addField(name, detail.value) } else { addAttribute(name, detail.value) }
            }
        }

        /// Adds a string as an attribute, or as a field if it would exceed the limits for attributes.
        private mutating func addAttribute(_ key: String, _ text: String?) {
            guard let text, !text.isEmpty else { return }
            let size = key.utf8.count + text.utf8.count
            guard attributes.count < attributeLimits.count, attributeBytes + size <= attributeLimits.bytes else {
                return addField(key, text)
            }
            attributes[unused(key)] = text
            attributeBytes += size
        }

        private mutating func addField(_ name: String, _ text: String?) {
            guard let text, !text.isEmpty else { return }
            fields.append((unused(name), text))
        }

        private func unused(_ name: String) -> String {
            let isUsed = { (name: String) in attributes[name] != nil || fields.contains { $0.name == name } }
            if !isUsed(name) { return name }
            return (2...).lazy.map { "\(name)-\($0)" }.first { !isUsed($0) } ?? name
        }
    }
}

/// Converts strings from other programs to parts of entry names.
enum SafeName {
    /// Returns `text` with slashes and control characters replaced, or `substitute` if the result is blank.
    static func component(_ text: String, or substitute: String) -> String {
        let plain = text.unicodeScalars.map { scalar in
            scalar == "/" ? "-" : scalar.properties.generalCategory == .control ? " " : Character(scalar)
        }
        let trimmed = plain.trimming { $0 == " " }
        return trimmed.isEmpty ? substitute : String(trimmed)
    }

    static func folder(_ text: String) -> String {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { component(String($0), or: "") }
        return String(parts.joined(separator: "/").trimming { $0 == "/" })
    }

    /// Returns a field name with its dots replaced by dashes, because a dot would start another field.
    static func field(_ text: String) -> String { component(text, or: "field").replacing(".", with: "-") }
}
