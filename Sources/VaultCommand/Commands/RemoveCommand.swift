import Vault

enum RemoveCommand: Command {
    static let description = CommandDescription(
        name: .remove,
        summary: "remove names and their values",
        arguments: [
            ArgumentDescription(name: "NAME", count: .oneOrMore, completion: .secretName, help: "A name to remove.")
        ],
        options: [OptionDescription(name: .force, short: "f", help: "A name that is not there is no error.")],
        details: ["All names are removed at once or, if one of them is not there, none. It does not ask."],
        examples: [.init(line: "vault rm old.token old.password", meaning: "both or neither")],
        exitCodes: [.init(code: .notFound, meaning: "one of the names is not there; none was removed")]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let keychain = try session.openVault()
        let isForced = session.invocation.has(.force)
        let names = session.invocation.arguments.removingRepetitions()
        let removed: [String]
        do {
            removed = try keychain.transaction { transaction in
                try names.filter { name in
                    let wasThere = try transaction.remove(name)
                    guard wasThere || isForced else { throw AbsentName(name: name) }
                    return wasThere
                }
            }
        } catch let error as AbsentName {
            // The near name is looked for outside of the transaction, which keeps others from writing.
            throw session.absent(error.name, in: keychain)
        }
        if session.wantsJSON { try StandardOutput.write(JSONText.encode(RemoveReport(removed: removed))) }
        return .success
    }

    private struct AbsentName: Error {
        let name: String
    }
}

struct RemoveReport: Encodable {
    let removed: [String]
}

extension [String] {
    /// Each text once, at its first place.
    fileprivate func removingRepetitions() -> [String] {
        // By their bytes: as strings two spellings of an accented letter are equal.
        var seen: Set<[UInt8]> = []
        return filter { seen.insert([UInt8]($0.utf8)).inserted }
    }
}
