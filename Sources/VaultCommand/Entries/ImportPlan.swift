import Formats
import SealedLog
import Sealing
import Vault

/// Turns what other programs keep into entries: finds names for them, and decides what is a value, an attribute and a
/// field; see ``Login``.
struct ImportPlan {
    /// An entry takes up to 64 attributes and 8,000 bytes. The rest is for its name and its earlier versions.
    private static let attributeLimits = (count: 60, bytes: 6_000)

    /// Comes before every name.
    let prefix: String
    private(set) var entries: [PlannedEntry] = []
    /// A String would take two spellings of an accented letter for one name.
    private var names: Set<EntryName> = []
    /// How often a name was wanted.
    private var numbers: [String: Int] = [:]

    init(prefix: String) { self.prefix = prefix }

    /// Adds an entry under its own name.
    ///
    /// - Throws: ``FormatError`` for an invalid name, and for one that the plan has already.
    mutating func add(_ entry: PlannedEntry) throws(FormatError) {
        guard let name = EntryName(entry.name) else {
            throw FormatError(
                line: entry.line, "a name is empty, longer than 1,024 bytes, or has a control character")
        }
        guard names.insert(name).inserted else { throw FormatError(line: entry.line, "a name occurs twice") }
        entries.append(entry)
    }

    /// Removes entries, and returns how many.
    mutating func removeAll(where isRemoved: (PlannedEntry) -> Bool) -> Int {
        let count = entries.count
        entries.removeAll(where: isRemoved)
        return count - entries.count
    }

    /// Adds the entries of an item.
    mutating func add(_ item: ImportedItem) throws {
        let parts = ItemParts(item)
        let name = freeName(for: item, fields: parts.fields.map(\.name))
        let value = try SealableValue(kind: .unspecified, bytes: SecretBytes(utf8: parts.value))
        try add(
            PlannedEntry(name, value, attributes: parts.attributes, expires: item.expires, line: item.line))
        for (field, text) in parts.fields {
            // git's helper finds a token that outlives its password by these.
            let isToken = field == Login.Field.refreshToken.rawValue
            let attributes = isToken ? parts.attributes.merging(["field": field]) { $1 } : [:]
            let value = try SealableValue(kind: .unspecified, bytes: SecretBytes(utf8: text))
            try add(PlannedEntry(Login.name(of: field, in: name), value, attributes: attributes, line: item.line))
        }
    }

    /// Returns the name of an item, with a number if another one has it.
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

    /// What an item's value, attributes and fields are.
    private struct ItemParts {
        var value: String
        var attributes: [String: String] = [:]
        var fields: [(name: String, text: String)] = []
        private var attributeBytes = 0

        init(_ item: ImportedItem) {
            // A note on its own is the value; that of a login must not be taken for a password.
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

        /// Adds an attribute, or a field if it is too large for one.
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

/// Makes parts of names out of the texts of other programs.
enum SafeName {
    /// Returns a text without slashes and control characters; a substitute for one that has nothing else.
    static func component(_ text: String, or substitute: String) -> String {
        let plain = text.unicodeScalars.map { scalar in
            scalar == "/" ? "-" : scalar.properties.generalCategory == .control ? " " : Character(scalar)
        }
        let trimmed = plain.trimming { $0 == " " }
        return trimmed.isEmpty ? substitute : String(trimmed)
    }

    /// Returns the path of a folder; a slash separates two.
    static func folder(_ text: String) -> String {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { component(String($0), or: "") }
        return String(parts.joined(separator: "/").trimming { $0 == "/" })
    }

    /// Returns the name of a field: without a dot, which would begin another one.
    static func field(_ text: String) -> String {
        component(text, or: "field").replacing(".", with: "-")
    }
}
