import Vault

enum CompactCommand: Command {
    static let description = CommandDescription(
        name: .compact,
        summary: "rewrite the file without what is outdated",
        details: [
            "The vault does so by itself when it is worth it. Replaced and removed values leave the file only then."
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let compaction = try session.openVault().compact()
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
