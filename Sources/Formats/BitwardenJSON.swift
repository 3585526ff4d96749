/// Bitwarden's unencrypted JSON export of a user's or an organization's vault.
package enum BitwardenJSON {
    package static func items(in text: [UInt8]) throws(FormatError) -> ImportedItems {
        let root = try JSONNode(parsing: text)
        let members = try root.members()
        guard try members["encrypted"]?.boolean() != true else {
            throw FormatError(line: root.line, "the export is encrypted; export it as JSON without encryption")
        }
        guard members["items"] != nil else {
            throw FormatError(line: root.line, "it is not Bitwarden's export: \"items\" is missing")
        }
        let folders = try names(members.elements("folders") + members.elements("collections"))
        var found = ImportedItems()
        for node in try members.elements("items") { try add(node, folders, to: &found) }
        return found
    }

    private static func names(_ nodes: [JSONNode]) throws(FormatError) -> [String: String] {
        var names: [String: String] = [:]
        for node in nodes {
            let members = try node.members()
            if let id = try members.string("id") { names[id] = try members.string("name") }
        }
        return names
    }

    private static func add(
        _ node: JSONNode, _ folders: [String: String], to found: inout ImportedItems
    ) throws(FormatError) {
        let members = try node.members()
        var item = ImportedItem(title: try members.string("name") ?? "", line: node.line)
        let collection = try members.elements("collectionIds").first?.string()
        item.folder = (try members.string("folderId") ?? collection).flatMap { folders[$0] } ?? ""
        item.notes = try members.string("notes")
        if let login = try members["login"]?.members() {
            try addLogin(login, to: &item)
            found.leftOut += try login.elements("fido2Credentials").map { _ in .passkey }
        }
        if let card = try members["card"]?.members() {
            item.password = try card.string("number")
            try addAll(card, secret: ["code"], to: &item, without: ["number"])
        }
        if let identity = try members["identity"]?.members() {
            try addAll(identity, secret: ["ssn", "passportNumber", "licenseNumber"], to: &item, without: ["username"])
            item.username = try identity.string("username")
        }
        if let key = try members["sshKey"]?.members() {
            item.password = try key.string("privateKey")
            try addAll(key, secret: [], to: &item, without: ["privateKey"])
        }
        for field in try members.elements("fields") { try addField(field, to: &item) }
        found.items.append(item)
    }

    private static func addLogin(_ login: [String: JSONNode], to item: inout ImportedItem) throws(FormatError) {
        item.username = try login.string("username")
        item.password = try login.string("password")
        item.otp = try login.string("totp")
        for uri in try login.elements("uris") { if let uri = try uri.members().string("uri") { item.urls.append(uri) } }
    }

    /// Adds the JSON members of a card, an identity or an SSH key to the item, except `others`, sorted by name.
    private static func addAll(
        _ members: [String: JSONNode], secret: Set<String>, to item: inout ImportedItem, without others: Set<String>
    ) throws(FormatError) {
        for (name, node) in members.sorted(by: { $0.key < $1.key }) where !others.contains(name) {
            item.add(name, try node.string(), isSecret: secret.contains(name))
        }
    }

    /// Adds a user-defined field. The field's type is 0 for text, 1 for hidden text, 2 for a boolean, and 3 for a link
    /// to another field. A link has no value.
    private static func addField(_ node: JSONNode, to item: inout ImportedItem) throws(FormatError) {
        let field = try node.members()
        let type = try field["type"]?.integer() ?? 0
        item.add(try field.string("name") ?? "field", try field.string("value"), isSecret: type == 1)
    }
}
