import Vault

enum VerifyCommand: Command {
    static let description = CommandDescription(
        name: .verify,
        summary: "read and authenticate the whole vault",
        details: ["Opens every value and shows none."],
        exitCodes: [
            .init(code: .locked, meaning: "the key does not open the vault"),
            .init(code: .damaged, meaning: "the file is not as it was written; the error says what and where"),
            .init(code: .alarm, meaning: "the file is intact, but not the one that this machine remembers"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let keychain = try session.openVault()
        let found = try session.withProgress("Verifying") { try keychain.verify(progress: $0) }
        try session.print(json: found) {
            let entries = "\(Quantity.number(found.entries)) \(found.entries == 1 ? "entry" : "entries")"
            return "The vault is intact: \(entries) checked (\(Quantity.number(found.bytes)) bytes).\n"
        }
        return .success
    }
}

enum CompactCommand: Command {
    static let description = CommandDescription(
        name: .compact,
        summary: "reclaim space: drop removed and replaced values from the file",
        options: [StretchCost.option],
        details: [
            "The vault compacts itself when it is worth it. Until then, removed and replaced values stay in the file.",
            "--argon2id makes the key file harder to guess. The key file itself stays as it is.",
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let cost = try session.invocation.value(of: .argon2id).map(StretchCost.parse)
        let keychain = try session.openVault()
        let compaction = try session.withProgress("Compacting") { progress in
            if let cost { return try keychain.compact(raisingCostTo: cost, progress: progress) }
            return try keychain.compact(progress: progress)
        }
        try session.print(json: compaction) {
            let (before, after) = (Quantity.size(compaction.sizeBefore), Quantity.size(compaction.sizeAfter))
            let raised = cost == nil ? "" : "Raised the cost of a guess. "
            return raised
                + (before == after ? "Nothing to compact (\(after)).\n" : "Compacted: \(before) to \(after).\n")
        }
        return .success
    }
}
