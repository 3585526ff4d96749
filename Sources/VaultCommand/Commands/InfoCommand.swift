import Vault

enum InfoCommand: Command {
    static let description = CommandDescription(
        name: .info,
        summary: "show the vault's location and state",
        details: ["Nothing shown is secret, except the labels of keys, which the vault stores sealed."]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let information = try session.openVault().information()
        try session.print(json: InfoReport(information)) { TextLayout.table(rows(information, session)) }
        return .success
    }

    private static func rows(_ information: Information, _ session: Session) -> [(String, String)] {
        let keys = information.keySlots.map { slot in
            let label = slot.label.isEmpty ? "" : " \"\(session.shown(slot.label))\""
            let cost = slot.cost.map { " (\($0.passes) passes, \(Quantity.size($0.memory)))" } ?? ""
            return ("Key", "\(slot.kind)\(cost)\(label), since \(Timestamp.text(slot.created))")
        }
        let (live, dead) = (Quantity.size(information.liveBytes), Quantity.size(information.deadBytes))
        let sharing = information.keyFileSharing.map { " (\($0))" } ?? ""
        return [
            ("Vault", session.shown(information.vault)),
            ("Key file", session.shown(information.keyFile) + sharing),
            ("ID", information.id),
            ("Created", Timestamp.text(information.created)),
            ("Entries", Quantity.number(information.entries)),
            ("Last change", Quantity.number(information.sequence)),
            ("Size", "\(Quantity.size(information.fileSize)) (\(live) in use, \(dead) outdated)"),
            ("Records", "\(Quantity.number(information.recordsSinceCheckpoint)) since the last compaction"),
        ] + keys + [
            ("Rollback memory", information.memoryIsKept ? "kept" : "not kept: an older file would not be noticed"),
            (
                "Keys in memory",
                information.keysAreLockedInMemory ? "locked" : "not locked: may be swapped out, see `ulimit -l`"
            ),
        ] + information.problems.map { ("Problem", session.shown($0)) }
    }
}

struct InfoReport: Encodable {
    struct Key: Encodable {
        let kind: String
        let label: String
        let created: String
        @OrNull private(set) var cost: Cost?

        init(_ slot: KeySlotInformation) {
            kind = slot.kind
            label = slot.label
            created = Timestamp.text(slot.created)
            cost = slot.cost.map { Cost(passes: $0.passes, memory: $0.memory) }
        }
    }

    struct Cost: Encodable {
        let passes: Int
        let memory: Int
    }

    let vault: String
    let keyFile: String
    @OrNull private(set) var keyFileSharing: String?
    let id: String
    let created: String
    let sequence: UInt64
    let entries: Int
    let fileSize: Int
    let liveBytes: Int
    let deadBytes: Int
    let recordsSinceCheckpoint: Int
    let keys: [Key]
    let memoryIsKept: Bool
    let problems: [String]
    let keysAreLockedInMemory: Bool

    init(_ information: Information) {
        vault = information.vault
        keyFile = information.keyFile
        keyFileSharing = information.keyFileSharing
        id = information.id
        created = Timestamp.text(information.created)
        sequence = information.sequence
        entries = information.entries
        fileSize = information.fileSize
        liveBytes = information.liveBytes
        deadBytes = information.deadBytes
        recordsSinceCheckpoint = information.recordsSinceCheckpoint
        keys = information.keySlots.map(Key.init)
        memoryIsKept = information.memoryIsKept
        problems = information.problems
        keysAreLockedInMemory = information.keysAreLockedInMemory
    }
}
