import Vault

enum ShowCommand: Command {
    static let description = CommandDescription(
        name: .show, section: .values, changesNothing: true, summary: "show everything about a name except its value",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name.")],
        details: "Shows size, type, times, attributes and the names of its fields. Does not open the value.",
        examples: [.init("vault show web/shop", "show the times and the user name of a login")],
        exitCodes: [.init(.notFound, "no such name; a similar one is suggested")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try show(invocation.name, in: invocation.openVault(), invocation)
    }

    static func show(_ name: String, in keychain: Keychain, _ invocation: Invocation) throws -> ExitCode {
        let fields = try fields(of: name, in: keychain)
        let item = try keychain.item(name)
        guard item != nil || !fields.isEmpty else { throw keychain.absent(name) }
        return try invocation.finish(json: report(name, item, fields)) {
            TextLayout.table(
                [("Name", StandardOutput.shown(name))] + (item.map(rows) ?? [])
                    + fields.map { ("Field", StandardOutput.shown($0)) })
        }
    }

    private static func fields(of name: String, in keychain: Keychain) throws -> [String] {
        try keychain.keys(prefix: name + ".").filter { Login.split($0)?.login.utf8.elementsEqual(name.utf8) == true }
    }

    private static func rows(_ item: Keychain.Item) -> [(String, String)] {
        let expires = item.expires.map { [("Expires", Timestamp.text($0))] } ?? []
        return [
            ("Type", item.kind),
            ("Size", Quantity.size(item.size)),
            ("Created", Timestamp.text(item.created)),
            ("Changed", Timestamp.text(item.modified)),
        ] + expires
            + item.attributes.sorted { $0.key < $1.key }
            .map { ("Attribute", StandardOutput.shown("\($0.key)=\($0.value)")) }
    }

    /// Returns the report. If `name` has fields but no entry, the members other than the fields are null or empty.
    private static func report(_ name: String, _ item: Keychain.Item?, _ fields: [String]) -> JSONObject {
        [
            "name": name, "size": item?.size, "kind": item?.kind, "created": item.map { Timestamp.text($0.created) },
            "modified": item.map { Timestamp.text($0.modified) }, "expires": item?.expires.map(Timestamp.text),
            "attributes": item?.attributes ?? [:], "fields": fields,
        ]
    }
}

enum AttributeCommand: Command {
    static let description = CommandDescription(
        name: .attribute, section: .values, summary: "change a name's attributes, but not its value",
        arguments: [
            .init(name: "NAME", completion: .secretName, help: "The name."),
            .init(name: "KEY=VALUE", count: .oneOrMore, help: "An attribute. KEY= removes it."),
        ],
        details: """
            Other attributes, the value and its expiry are kept. The previous state becomes part of the history.

            `vault show NAME` lists the attributes; `vault find KEY=VALUE` finds names by them.
            """,
        examples: [
            .init("vault attr web/shop username=mia url=https://shop.example", "add or replace two attributes"),
            .init("vault attr web/shop url=", "remove an attribute"),
        ],
        exitCodes: [.init(.notFound, "no such name; a similar one is suggested")],
        mayHoldSecrets: true)

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let attributes = try Attributes.parse(Array(invocation.arguments.dropFirst()))
        try ReadingPolicy.checkInput(attributes)
        let changes = attributes.mapValues { $0.isEmpty ? nil : $0 }
        let keychain = try invocation.openVault()
        do {
            let attributes = try keychain.setAttributes(of: invocation.name, changes).present
            return try invocation.finish(keychain, json: ["name": invocation.name, "attributes": attributes])
        } catch let error as VaultError where error.code == .absent { throw keychain.absent(invocation.name) }
    }
}
