import Formats
import FoundationEssentials
import Glibc
import SealedLog
import Vault

enum ImportCommand: Command {
    static let description = CommandDescription(
        name: .importEntries, section: .importAndExport, summary: "import entries from another program",
        arguments: [
            .init(
                name: "FORMAT", choices: ImportFormat.allCases.map(\.rawValue),
                help: "The format of FILE: " + ImportFormat.allCases.map(\.rawValue).joined(separator: ", ")),
            .init(
                name: "FILE", completion: .file,
                help: "The file (- is standard input); for pass, its folder; for libsecret, ATTRIBUTE=VALUE."),
        ],
        options: [
            .init(name: .prefix, value: "FOLDER/", help: "A prefix for the names."),
            .init(name: .dryRun, help: "Only list what would be stored: names, sizes and attributes, never values."),
            .init(name: .replace, help: "Replace existing values that differ."),
            .init(name: .skip, help: "Keep existing values that differ."),
        ],
        details: """
            Stores everything or nothing. A name that already has the same value is left alone, so an import can be \
            repeated. A different value is refused unless --replace or --skip is given.

            A login becomes an entry with the password, named by folder and title: work/mail. User name and addresses \
            become attributes; each further secret becomes an entry of its own: work/mail.otp, work/mail.notes. A note \
            becomes an entry with its text. Attachments and earlier passwords are not imported.

            json is the output of `vault export json`, or one object of strings: {"NAME": "VALUE"}.

            For pass, gpg decrypts each file; for libsecret, secret-tool prints the items with the attribute. Either \
            may prompt you to unlock a key or a keyring.

            The file is kept, with all its secrets. Delete it once you have checked the import.
            """,
        examples: [
            .init("vault import bitwarden-json export.json --dry-run", "preview the import"),
            .init("vault import chrome-csv Passwords.csv --prefix chrome/", "import into a folder"),
            .init("vault import git-credentials ~/.git-credentials", "import into git/, for git's helper"),
        ],
        exitCodes: [
            .init(.usage, "the file is malformed; the error names the line, and nothing is stored"),
            .init(.refused, "some names already have different values; nothing is stored"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard let format = ImportFormat(rawValue: invocation.name) else {
            throw UsageError.badArgument("FORMAT", choices: ImportFormat.allCases.map(\.rawValue))
        }
        guard !invocation.has(.replace) || !invocation.has(.skip) else { throw UsageError.replaceOrSkip }
        var contents = try read(format, invocation)
        contents.dropExpired(at: Date())
        let keychain = try openVault(invocation)
        let changes = try store(contents.plan.entries, in: keychain, invocation)
        let report = ImportReport(contents, changes, isDryRun: invocation.has(.dryRun))
        let exit = try invocation.finish(json: report.json.marked(by: keychain)) { report.text }
        if !invocation.has(.dryRun), !invocation.wantsJSON, format.isPlainFile, invocation.arguments[1] != "-" {
            Notes.inform(
                "\(invocation.arguments[1]) still contains the secrets in plain text. Delete it once you have checked "
                    + "the import.")
        }
        if let keychain, !invocation.has(.dryRun) {
            let stored = zip(contents.plan.entries, changes).filter { [.stored, .replaced].contains($1) }
            invocation.reportPolicies(of: stored.map(\.0.name), in: keychain)
        }
        keychain?.maintenance.finishUpkeep()
        return exit
    }

    private static func read(_ format: ImportFormat, _ invocation: Invocation) throws -> ImportContents {
        let source = invocation.arguments[1]
        let prefix = invocation.value(of: .prefix) ?? ""
        let shown = source == "-" && format.isPlainFile ? "Standard input" : source
        do {
            switch format {
            case .pass:
                let items = try invocation.withProgress("Decrypting") { progress in
                    try PassStore.items(in: source) { count in
                        progress?.begin(UInt64(count))
                        progress?.advance(by: 1)
                    }
                }
                return try ImportContents(items, prefix: prefix)
            case .libsecret: return try ImportContents(SecretTool.items(with: source), prefix: prefix)
            default: return try format.read(bytes(of: source, named: shown), from: shown, prefix: prefix)
            }
        } catch let error as FormatError { throw CommandError.malformed(error, in: shown, "nothing was imported") }
    }

    private static func bytes(of source: String, named name: String) throws -> [UInt8] {
        let limit = 64 << 20
        guard source != "-" || isatty(STDIN_FILENO) != 1 else {
            throw CommandError.invalid("Standard input is a terminal. Pipe the file in, or pass its path.")
        }
        do {
            let file =
                try source == "-"
                ? ValueInput.read(from: STDIN_FILENO, named: name, isExact: true, upTo: limit)
                : ValueInput.readFile(at: source, upTo: limit)
            return file.unsafeArray()
        } catch let error as CommandError where error == .tooLarge {
            throw CommandError.invalid("\(name) is larger than \(limit >> 20) MiB; nothing was imported.")
        }
    }

    /// Opens the vault. Returns nil in a dry run if there is no vault, because a dry run creates none.
    private static func openVault(_ invocation: Invocation) throws -> Keychain? {
        let isDryRun = invocation.has(.dryRun)
        do { return try invocation.openVault(creatingIfAbsent: !isDryRun) } catch let error as VaultError {
            guard isDryRun, error.code == .noVault else { throw error }
            return nil
        }
    }

    private static func store(
        _ entries: [PlannedEntry], in keychain: Keychain?, _ invocation: Invocation
    ) throws -> [EntryChange] {
        guard let keychain else { return entries.map { _ in .stored } }
        let policy: ClashPolicy = invocation.has(.replace) ? .replace : invocation.has(.skip) ? .keep : .refuse
        return try invocation.withProgress("Importing") { progress in
            progress?.begin(UInt64(entries.count))
            return try keychain.store(entries, onClash: policy, isDryRun: invocation.has(.dryRun)) {
                progress?.advance(by: 1)
            }
        }
    }
}

extension ImportContents {
    fileprivate mutating func dropExpired(at now: Date) {
        let count = plan.removeAll { $0.expires.map { $0 <= now } ?? false }
        leftOut += Array(repeating: .expiredEntry, count: count)
    }
}

extension ImportFormat {
    /// Whether the source is one file, which the user can delete after the import.
    fileprivate var isPlainFile: Bool { self != .pass && self != .libsecret }
}

private struct ImportReport {
    let contents: ImportContents
    let changes: [EntryChange]
    let isDryRun: Bool

    init(_ contents: ImportContents, _ changes: [EntryChange], isDryRun: Bool) {
        self.contents = contents
        self.changes = changes
        self.isDryRun = isDryRun
    }

    private struct Line: Encodable {
        let name: String
        let size: Int
        let attributes: [String: String]
        let change: EntryChange
    }

    var json: JSONObject {
        let lines = zip(contents.plan.entries, changes).map { entry, change in
            Line(name: entry.name, size: entry.value.bytes.count, attributes: entry.attributes, change: change)
        }
        return ["dry_run": isDryRun, "entries": lines, "skipped": contents.leftOut.count]
    }

    var text: String { (isDryRun ? list : "") + summary }

    private var list: String {
        zip(contents.plan.entries, changes).map { entry, change in
            let attributes = entry.attributes.sorted { $0.key < $1.key }.map { "  \($0.key)=\($0.value)" }.joined()
            let line = "\(entry.name)  \(Quantity.size(entry.value.bytes.count))\(attributes)"
            return "\(StandardOutput.shown(line))\(change == .stored ? "" : "  (\(change.rawValue))")\n"
        }.joined()
    }

    /// The summary, such as `Imported 120 items (143 entries), 3 unchanged. Left out: 1 attachment, 2 passkeys.`
    private var summary: String {
        let count = changes.count { $0 == .stored || $0 == .replaced }
        let items = contents.items.map { "\(Quantity.number($0)) \($0 == 1 ? "item" : "items") (" }
        var text = isDryRun ? "Would import " : "Imported "
        text += (items ?? "") + Quantity.entries(count) + (items == nil ? "" : ")")
        for change in [EntryChange.kept, .unchanged] {
            let others = changes.count { $0 == change }
            if others > 0 { text += ", \(Quantity.number(others)) \(change.rawValue)" }
        }
        let leftOut = LeftOut.allCases.compactMap { part in
            let count = contents.leftOut.count { $0 == part }
            return count > 0 ? part.quantity(count) : nil
        }
        return text + (leftOut.isEmpty ? ".\n" : ". Left out: \(leftOut.joined(separator: ", ")).\n")
    }
}

extension LeftOut {
    /// Returns a count with its noun, such as `1 attachment` or `2 attachments`.
    fileprivate func quantity(_ count: Int) -> String {
        let (one, several) =
            switch self {
            case .attachment: ("attachment", "attachments")
            case .passkey: ("passkey", "passkeys")
            case .macro: ("macro", "macros")
            case .deletedItem: ("deleted item", "deleted items")
            case .expiredEntry: ("expired entry", "expired entries")
            case .helpedServer: ("server that uses a credential helper", "servers that use a credential helper")
            }
        return "\(Quantity.number(count)) \(count == 1 ? one : several)"
    }
}
