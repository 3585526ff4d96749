import Vault

enum VerifyCommand: Command {
    static let description = CommandDescription(
        name: .verify,
        summary: "read and authenticate all of the vault",
        details: ["Every value is opened and none is shown."],
        exitCodes: [
            .init(code: .locked, meaning: "the key does not open the vault"),
            .init(code: .damaged, meaning: "something in the file is not as it was written; what and where is said"),
            .init(code: .alarm, meaning: "the file is sound, but not the one that this machine remembers"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let keychain = try session.openVault()
        let found = try session.withProgress("Verifying") { try keychain.verify(progress: $0) }
        let report = VerifyReport(entries: found.entries, records: found.records, bytes: found.bytes)
        try session.print(json: report) {
            "All is authentic: entries \(found.entries), records \(found.records), bytes \(found.bytes).\n"
        }
        return .success
    }
}

struct VerifyReport: Encodable {
    let entries: Int
    let records: Int
    let bytes: Int
}
