import Vault

/// What `mv` and `cp` share: both put what one name has under another.
enum Relocation {
    static func arguments(_ verb: String) -> [ArgumentDescription] {
        [
            ArgumentDescription(name: "FROM", completion: .secretName, help: "The name to \(verb)."),
            ArgumentDescription(name: "TO", completion: .secretName, help: "The name to be given."),
        ]
    }

    static let options = [
        OptionDescription(name: .force, short: "f", help: "Replace TO if it is there; otherwise that is refused.")
    ]

    static let exitCodes: [CommandDescription.ExitNote] = [
        .init(code: .notFound, meaning: "FROM is not there"),
        .init(code: .refused, meaning: "TO is there already; --force replaces it"),
    ]

    /// Runs `relocate`, with hints for this tool's users on its errors.
    static func run(
        _ session: Session,
        _ relocate: (_ keychain: Keychain, _ from: String, _ to: String, _ isForced: Bool) throws -> Void
    ) throws {
        let (from, to) = (session.invocation.arguments[0], session.invocation.arguments[1])
        let keychain = try session.openVault()
        do {
            try relocate(keychain, from, to, session.invocation.has(.force))
        } catch let error as VaultError where error.code == .absent {
            throw session.absent(from, in: keychain)
        } catch let error as VaultError where error.code == .exists {
            var refusal = CommandError(error)
            refusal.message += " --force replaces it."
            throw refusal
        }
        if session.wantsJSON { try StandardOutput.write(JSONText.encode(RelocationReport(from: from, to: to))) }
    }
}

struct RelocationReport: Encodable {
    let from: String
    let to: String
}
