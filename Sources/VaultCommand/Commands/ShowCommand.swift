import Vault

enum ShowCommand: Command {
    static let description = CommandDescription(
        name: .show, summary: "show what is known of a name, but not its value",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name.")],
        details: ["Shows size, type, times and attributes, and the names of its fields. The value is not opened."],
        examples: [.init("vault show web/shop", "when was it changed, and for which user is it?")],
        exitCodes: [.init(.notFound, "no such name; a similar one is suggested")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try show(invocation.name, in: invocation.openVault(), invocation)
    }

    /// Ends a command that shows a name.
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

    /// Returns the names of the entries that are fields of a login.
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

    /// An entry that has fields alone has nothing else.
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
        name: .attribute, summary: "change the attributes of a name, without its value",
        arguments: [
            .init(name: "NAME", completion: .secretName, help: "The name."),
            .init(name: "KEY=VALUE", count: .oneOrMore, help: "An attribute. KEY= removes one."),
        ],
        details: [
            "Other attributes, the value and its expiry stay. The former state becomes a part of the history.",
            "`vault show NAME` lists the attributes; `vault find KEY=VALUE` finds names by them.",
        ],
        examples: [
            .init("vault attr web/shop username=mia url=https://shop.example", "add or replace two"),
            .init("vault attr web/shop url=", "remove one"),
        ],
        exitCodes: [.init(.notFound, "no such name; a similar one is suggested")],
        mayHoldSecrets: true)

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let attributes = try Attributes.parse(Array(invocation.arguments.dropFirst()))
        try ReadingPolicy.check(attributes)
        let changes = attributes.mapValues { $0.isEmpty ? nil : $0 }
        let keychain = try invocation.openVault()
        do {
            let attributes = try keychain.setAttributes(of: invocation.name, changes).present
            return try invocation.finish(
                keychain, json: ["name": invocation.name, "attributes": attributes])
        } catch let error as VaultError where error.code == .absent {
            throw keychain.absent(invocation.name)
        }
    }
}
