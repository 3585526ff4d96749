import Vault

enum SalvageCommand: Command {
    static let description = CommandDescription(
        name: .salvage,
        summary: "copy what is intact of a damaged vault into a new one",
        arguments: [
            ArgumentDescription(name: "OUT", completion: .file, help: "The file of the new vault. It must not exist.")
        ],
        details: [
            """
            The damaged file is only read. The new vault has the same key file. The report begins with what is most \
            certain: latest values, values whose last change may be lost, earlier values in place of lost ones, and \
            what is lost.
            """,
            """
            To replace the old vault: move it away and keep it, move the new one to its path, and run a command once \
            with --accept-exchanged, such as `vault ls --accept-exchanged`.
            """,
        ],
        examples: [.init(line: "vault salvage ./salvaged.vault", meaning: "the standard vault, into a new file")],
        exitCodes: [
            .init(code: .refused, meaning: "OUT already exists; it is left alone"),
            .init(code: .locked, meaning: "the key opens none of the remaining key slots"),
            .init(code: .damaged, meaning: "something is lost or doubtful; the report says what"),
        ]
    )

    static func run(_ session: Session) throws -> ExitCode {
        let salvage = try session.salvage(to: session.name)
        let report = SalvageReport(vault: session.name, salvage)
        try session.print(json: report) { text(report, session) }
        return salvage.isComplete ? .success : .damaged
    }

    private static func text(_ report: SalvageReport, _ session: Session) -> String {
        var text =
            "Copied to \(session.shown(report.vault)). Entries with their last value: \(report.certain).\n"
        func list(_ names: [String], _ title: String) {
            if !names.isEmpty { text += title + "\n" + names.map { "  \(session.shown($0))\n" }.joined() }
        }
        list(report.doubtful, "Copied, but their last change may be lost:")
        list(report.older, "Copied with an earlier value, because the last one is lost:")
        list(report.lost, "Lost:")
        switch report.unnamed {
        case 0: break
        case let count?: text += "Entries lost with their names: \(count).\n"
        case nil: text += "More may be lost: the number of entries is unknown.\n"
        }
        list(report.damage, "Damaged or missing:")
        if report.isComplete { text += "Nothing is missing.\n" }
        return text
    }
}

struct SalvageReport: Encodable {
    let vault: String
    let certain: Int
    let doubtful: [String]
    let older: [String]
    let lost: [String]
    @OrNull private(set) var unnamed: Int?
    let damage: [String]
    let isComplete: Bool

    init(vault: String, _ salvage: Salvage) {
        self.vault = vault
        certain = salvage.certain
        doubtful = salvage.doubtful
        older = salvage.older
        lost = salvage.lost
        unnamed = salvage.unnamed
        damage = salvage.damage
        isComplete = salvage.isComplete
    }
}
