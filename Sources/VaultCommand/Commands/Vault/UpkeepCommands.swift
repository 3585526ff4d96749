import FoundationEssentials
import SealedLog
import Vault

enum VerifyCommand: Command {
    static let description = CommandDescription(
        name: .verify, section: .vault, summary: "read and authenticate the whole vault",
        details: "Opens every value, but shows none.",
        exitCodes: [
            .init(.locked, "the key does not open the vault"),
            .init(.damaged, "the file is damaged; the error gives the kind and position"),
            .init(
                .alarm,
                "the file is intact, but differs from the one that this machine remembers, or a change is from another "
                    + "history or from a non-member"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let found = try invocation.withProgress("Verifying") { try keychain.maintenance.verify(progress: $0) }
        let exit = try invocation.finish(json: report(found)) {
            let entries = Quantity.entries(found.entries)
            let unsigned = found.unsigned.isEmpty ? "" : "Not signed by a member: \(shown(found.unsigned))\n"
            let ended = unsignedSince(found).map { "No members since \($0), so changes are not signed.\n" }
            return "The vault is intact: \(entries) checked (\(Quantity.number(found.bytes)) bytes).\n" + unsigned
                + (ended ?? "")
        }
        guard found.foreign.isEmpty, found.ofNonMembers.isEmpty else {
            throw CommandError(code: "diverged", exit: .alarm, message: alarm(found, AdvisedCommand(invocation)))
        }
        return exit
    }

    private static func alarm(_ found: VerificationReport, _ advised: AdvisedCommand) -> String {
        var sentences: [String] = []
        if !found.foreign.isEmpty {
            sentences.append(
                "These entries were changed in a history that this vault does not include: \(shown(found.foreign)). "
                    + "If a merge was interrupted, repeat it. Otherwise, someone has combined two histories.")
        }
        if !found.ofNonMembers.isEmpty {
            sentences.append(
                "These entries were changed by someone who was not a member at the time: \(shown(found.ofNonMembers)). "
                    + "`\(advised.line("log --changes"))` shows the author. If a value is wrong, set it again.")
        }
        return sentences.joined(separator: "\n")
    }

    private static func shown(_ names: [String]) -> String {
        names.prefix(10).map(\.forTerminal).joined(separator: ", ") + (names.count > 10 ? ", ..." : "")
    }

    private static func unsignedSince(_ found: VerificationReport) -> String? {
        found.unsignedSince.map { Timestamp.text(Date(milliseconds: $0)) }
    }

    static func report(_ found: VerificationReport) -> JSONObject {
        [
            "entries": found.entries, "records": found.records, "bytes": found.bytes, "unsigned": found.unsigned,
            "unsigned_since": unsignedSince(found), "foreign": found.foreign, "of_non_members": found.ofNonMembers,
        ]
    }
}

enum CompactCommand: Command {
    static let description = CommandDescription(
        name: .compact, section: .vault, summary: "reclaim space: drop outdated data from the file",
        options: [.stretchCost],
        details: """
            The vault compacts itself when that saves enough space. Earlier values stay for as long as `vault history` \
            keeps them; `vault rm --purge` drops them.

            --argon2id makes the key file harder to guess. The key file itself is left unchanged.
            """)

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let cost = try invocation.stretchCost
        let keychain = try invocation.openVault()
        let compaction = try invocation.withProgress("Compacting") { progress in
            if let cost { return try keychain.maintenance.compact(raisingCostTo: cost, progress: progress) }
            return try keychain.maintenance.compact(progress: progress)
        }
        return try invocation.finish(json: report(compaction)) {
            let before = Quantity.size(compaction.sizeBefore)
            let after = Quantity.size(compaction.sizeAfter)
            let raised = cost == nil ? "" : "Made the key file harder to guess. "
            return raised
                + (before == after ? "Nothing to compact (\(after)).\n" : "Compacted: \(before) to \(after).\n")
        }
    }

    static func report(_ compaction: CompactionReport) -> JSONObject {
        ["size_before": compaction.sizeBefore, "size_after": compaction.sizeAfter]
    }
}
