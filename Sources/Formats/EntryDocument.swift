import FoundationEssentials

/// The JSON format of `vault export json`. It includes everything about an entry except its history, so that an import
/// restores the entry. The reader also accepts an object whose values are strings.
package enum EntryDocument {
    package static let version = 1

    package struct Entry: Hashable, Sendable {
        package let name: String
        package let kind: String
        package let value: [UInt8]
        package let attributes: [String: String]
        package let expires: String?
        package let line: Int
    }

    package static func entries(in text: [UInt8]) throws(FormatError) -> [Entry] {
        let root = try JSONNode(parsing: text)
        let members = try root.members()
        guard let version = members["vault_export"], let entries = members["entries"] else {
            return try texts(of: members)
        }
        guard try version.integer() == Self.version else {
            throw FormatError(line: version.line, "it was written by a later version of vault")
        }
        return try entries.elements().map { (node) throws(FormatError) in try entry(node) }
    }

    /// Reads an object whose values are strings, `{"NAME": "VALUE"}`. Other programs write this form.
    private static func texts(of members: [String: JSONNode]) throws(FormatError) -> [Entry] {
        var entries: [Entry] = []
        for (name, node) in members.sorted(by: { $0.key < $1.key }) {
            guard let text = try? node.string() else {
                throw FormatError(
                    line: node.line, "it is neither the output of `vault export json` nor an object of strings")
            }
            entries.append(
                Entry(
                    name: name, kind: "unspecified", value: Array(text.utf8), attributes: [:], expires: nil,
                    line: node.line))
        }
        return entries
    }

    private static func entry(_ node: JSONNode) throws(FormatError) -> Entry {
        let members = try node.members()
        guard let name = try members.string("name") else { throw FormatError(line: node.line, "an entry has no name") }
        var attributes: [String: String] = [:]
        for (key, value) in try members["attributes"]?.members() ?? [:] { attributes[key] = try value.string() }
        return Entry(
            name: name, kind: try members.string("kind") ?? "unspecified", value: try value(members, node.line),
            attributes: attributes, expires: try members.string("expires"), line: node.line)
    }

    private static func value(_ members: [String: JSONNode], _ line: Int) throws(FormatError) -> [UInt8] {
        switch (try members.string("value"), try members.string("value_base64")) {
        case (let text?, nil): return Array(text.utf8)
        case (nil, let text?):
            guard let data = Data(base64Encoded: text) else {
                throw FormatError(line: members["value_base64"]?.line, "value_base64 is not base64")
            }
            return Array(data)
        default: throw FormatError(line: line, "an entry has no value, or both value and value_base64")
        }
    }
}
