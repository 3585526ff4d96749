import Vault

enum ExistsCommand: Command {
    static let description = CommandDescription(
        name: .exists, section: .values, changesNothing: true, summary: "check whether a name exists (exit code only)",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name.")],
        details: "Prints nothing, unless --json is given.",
        examples: [.init("vault exists u.token || vault set u.token", "set a value unless the name exists")],
        exitCodes: [
            .init(.success, "the name exists"),
            .init(.notFound, "the name does not exist, or there is no vault"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let exists = try invocation.openVault().exists(invocation.name)
        let json = report(name: invocation.name, exists: exists)
        return try invocation.finish(exists ? .success : .notFound, json: json)
    }

    static func report(name: String, exists: Bool) -> JSONObject { ["name": name, "exists": exists] }
}

enum RemoveCommand: Command {
    static let description = CommandDescription(
        name: .remove, section: .values, summary: "remove names and their values",
        arguments: [.init(name: "NAME", count: .oneOrMore, completion: .secretName, help: "A name to remove.")],
        options: [
            .recursive,
            .init(name: .force, short: "f", help: "Ignore names that do not exist."),
            .init(
                name: .purge,
                help: "Also drop the earlier values, from this file and from copies that are merged later."),
        ],
        details: """
            Removes all names or, if one of them does not exist, none. Does not ask for confirmation. Unless --purge \
            is given, `vault undo` restores all of them, and `vault restore NAME` one.
            """,
        examples: [
            .init("vault rm old.token old.password", "remove both, or neither if one is missing"),
            .init("vault rm -r web/shop", "remove a login with its fields, such as web/shop.otp"),
        ],
        exitCodes: [.init(.notFound, "one of the names does not exist; none was removed")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        // The comparison is bytewise, because two spellings of an accented letter are equal as Swift strings.
        var seen: Set<[UInt8]> = []
        let names = try named(invocation, in: keychain).filter { seen.insert(Array($0.utf8)).inserted }
        if invocation.has(.purge) { return try purge(names, in: keychain, invocation) }
        do {
            let removed = try keychain.transaction { transaction in
                try names.filter { name in
                    let wasThere = try transaction.remove(name)
                    guard wasThere || invocation.has(.force) else { throw AbsentName(name: name) }
                    return wasThere
                }
            }
            if invocation.has(.recursive), StandardError.isTerminal, !invocation.wantsJSON {
                let count = Quantity.entries(removed.count)
                Notes.inform("Removed \(count). Undo this with `\(AdvisedCommand(invocation).line("undo"))`.")
            }
            return try invocation.finish(keychain, json: report(removed: removed))
        } catch let error as AbsentName {
            // The search for a similar name begins after the transaction, so that the transaction stays short.
            throw keychain.absent(error.name)
        }
    }

    /// Returns the names given as arguments and, with `-r`, the names below them.
    private static func named(_ invocation: Invocation, in keychain: Keychain) throws -> [String] {
        guard invocation.has(.recursive) else { return invocation.arguments }
        return try invocation.arguments.flatMap { root in
            let names = try Subtree(root: root).names(in: keychain)
            return names.isEmpty ? [root] : names
        }
    }

    private static func purge(_ names: [String], in keychain: Keychain, _ invocation: Invocation) throws -> ExitCode {
        let known = Set(try keychain.history.purgeable(names).map { Array($0.utf8) })
        if !invocation.has(.force), let unknown = names.first(where: { !known.contains(Array($0.utf8)) }) {
            throw keychain.absent(unknown)
        }
        let purged = try keychain.history.purge(names)
        return try invocation.finish(keychain, json: report(removed: purged))
    }

    private struct AbsentName: Error { let name: String }

    static func report(removed: [String]) -> JSONObject { ["removed": removed] }
}
