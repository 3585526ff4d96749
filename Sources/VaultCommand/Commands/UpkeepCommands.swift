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
        try session.print(json: VerifyReport(entries: found.entries, records: found.records, bytes: found.bytes)) {
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

enum CompactCommand: Command {
    static let description = CommandDescription(
        name: .compact,
        summary: "rewrite the file without what is outdated",
        options: [StretchCost.option],
        details: [
            "The vault does so by itself when it is worth it. Replaced and removed values leave the file only then.",
            "With --argon2id the vault is made harder to open by guessing at the key file, which stays as it is.",
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let cost = try session.invocation.value(of: .argon2id).map(StretchCost.parse)
        let keychain = try session.openVault()
        let compaction = try session.withProgress("Compacting") { progress in
            if let cost { return try keychain.compact(raisingCostTo: cost, progress: progress) }
            return try keychain.compact(progress: progress)
        }
        let report = CompactReport(sizeBefore: compaction.sizeBefore, sizeAfter: compaction.sizeAfter)
        try session.print(json: report) {
            "The file had \(compaction.sizeBefore) bytes and now has \(compaction.sizeAfter).\n"
        }
        return .success
    }
}

struct CompactReport: Encodable {
    let sizeBefore: Int
    let sizeAfter: Int
}
