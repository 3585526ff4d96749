import FoundationEssentials
import Glibc
import SealedLog
import Vault

enum LogCommand: Command {
    static let description = CommandDescription(
        name: .log, summary: "show which values were read, when and by whom",
        arguments: [
            .init(name: "NAME", count: .optional, completion: .secretName, help: "Show the reads of this name alone.")
        ],
        options: [
            .init(name: .last, value: "N", help: "Show the last N reads."),
            .init(
                name: .since, value: "TIME",
                help: "Show the reads since a UTC time, such as 2026-01-31 or 2026-01-31T09:05:00Z, or since 8h ago."),
            .init(
                name: .head,
                help: "Show what the vault's history ends with, in one word; or compare NAME, another machine's word."),
            .init(name: .changes, help: "Show the changes that the vault has still, and which member has made each."),
            .init(name: .on, help: "Record reads from now on, for all who use the vault."),
            .init(name: .off, help: "Record no more. What is recorded stays."),
        ],
        details: [
            """
            The access log is off unless it is switched on. The switch is a setting of the vault. Each machine has a \
            log of its own, sealed like the vault, beside what it remembers of the vault (see `vault help locations`).
            """,
            """
            Shows, oldest first: the time, the command, the name, the program that ran the command, its process and, \
            if it is not you, its user. For `vault run`, also the program that was started. Each read of a value by \
            this command is recorded before the value is given out, and as refused if its policy refuses it. If the \
            log cannot be written, the value is not read. Programs that use the library record nothing.
            """,
            """
            A record that was changed, removed or moved is noticed, unless it is the last one: that the end was cut \
            off, or the file was removed, is not. It has room for 16 MiB; then the older half makes room. A power loss \
            may take or damage the last ones.
            """,
            """
            Where a vault is on a server, or is synchronized, two machines that exchange the word of --head by chat or \
            git notice if they are shown different histories.
            """,
            """
            --changes shows, oldest first: the time, the member who has signed the change if the vault has members, \
            the number of the change that the member had seen last, and the name.
            """,
            """
            The attribute policy=run lets only `vault run` read a value, and the fields of that login. It guards \
            against slips: whoever can open the vault can lift it, by `vault attr NAME policy=`. Nothing else does: a \
            value that replaces a guarded one, a copy and an earlier value keep it, and a login does not leave its \
            fields without it. A name that is removed and set again begins without one.
            """,
        ],
        examples: [
            .init("vault log --on", "record from now on"),
            .init("vault log u.token --since 7d", "who has read it this week"),
        ],
        exitCodes: [
            .init(.usage, "--on or --off with anything else, or a time that cannot be read"),
            .init(.alarm, "with --head: this history does not include the other machine's"),
            .init(.damaged, "the log was changed; what is intact is shown"),
            .init(.inputOutput, "the log cannot be read or written"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard !invocation.has(.on), !invocation.has(.off) else { return try setAccessLogged(invocation) }
        if invocation.has(.head) { return try compareHeads(invocation) }
        if invocation.has(.changes) { return try showChanges(invocation) }
        let last = try invocation.number(of: .last)
        let since = try invocation.since
        let keychain = try invocation.openVault()
        let isOn = try keychain.isAccessLogged()
        let report = try keychain.accesses()
        var shown = report.records
        // Compared as bytes: as strings, two spellings of an accented letter are equal.
        if let name = invocation.arguments.first { shown.removeAll { !$0.access.name.utf8.elementsEqual(name.utf8) } }
        if let since { shown.removeAll { $0.time < since } }
        if let last { shown = shown.suffix(last) }
        let json: JSONObject = [
            "is_on": isOn, "file": keychain.accessLogPath, "dropped": report.dropped, "accesses": shown.map(\.json),
        ]
        _ = try invocation.finish(json: json) { lines(shown) }
        if !isOn, !invocation.wantsJSON { Notes.tell("The access log is off. `vault log --on` switches it on.") }
        if !report.damage.isEmpty { throw damaged(report.damage) }
        return .success
    }

    private static func compareHeads(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        guard let other = invocation.arguments.first else {
            let head = try keychain.head()
            return try invocation.finish(json: ["head": head]) { head + "\n" }
        }
        let problem: String
        switch try keychain.compare(head: other) {
        case .included:
            let head = try keychain.head()
            return try invocation.finish(json: ["head": head]) { "This history includes it.\n" }
        case .excluded: problem = "This vault has another history than the one it is from."
        case nil: problem = "This vault ends before it: it is an older copy, or the other has gone on meanwhile."
        case .unknown:
            throw CommandError(
                code: "other", exit: .other, message: "It is from too long ago to tell: this vault was compacted since."
            )
        }
        throw CommandError(code: "diverged", exit: .alarm, message: problem)
    }

    private static func showChanges(_ invocation: Invocation) throws -> ExitCode {
        let last = try invocation.number(of: .last)
        let since = try invocation.since
        let keychain = try invocation.openVault()
        var changes = try keychain.loggedChanges()
        let hasMembers = try keychain.hasHadMembers
        if let name = invocation.arguments.first { changes.removeAll { !$0.name.utf8.elementsEqual(name.utf8) } }
        if let since { changes.removeAll { $0.time < since } }
        if let last { changes = changes.suffix(last) }
        return try invocation.finish(json: ["changes": changes.map(\.json)]) {
            changes.map { $0.line(hasMembers: hasMembers) }.joined()
        }
    }

    private static func setAccessLogged(_ invocation: Invocation) throws -> ExitCode {
        let others: [OptionName] = [.last, .since] + (invocation.has(.on) ? [.off] : [])
        guard invocation.arguments.isEmpty, !others.contains(where: invocation.has) else {
            throw UsageError.switchAlone
        }
        let keychain = try invocation.openVault()
        let isOn = invocation.has(.on)
        let isChanged = try keychain.isAccessLogged() != isOn
        let access = invocation.access(to: "", action: isOn ? "--on" : "--off")
        // A log that cannot be written would keep everybody from reading.
        if isOn, isChanged { try stayingOff { () throws(VaultError) in try keychain.checkAccessLog() } }
        do throws(VaultError) { try keychain.setAccessLogged(isOn) } catch {
            if isChanged { try? keychain.recordAccess(evenIfOff: true) { access.refused } }
            throw error
        }
        // Only what is done is recorded.
        if isChanged { try record(access, isOn, in: keychain, invocation) }
        let path = keychain.accessLogPath
        let exit = try invocation.finish(keychain, json: ["is_on": isOn, "file": path])
        if !invocation.wantsJSON { Notes.tell(isOn ? told(path) : "The access log is off.") }
        return exit
    }

    /// Records the switch. If it cannot be, the log is off again; that must keep nobody from switching it off.
    private static func record(
        _ access: Access, _ isOn: Bool, in keychain: Keychain, _ invocation: Invocation
    ) throws {
        do throws(VaultError) { try keychain.recordAccess(evenIfOff: true) { access } } catch {
            guard isOn else { return Notes.warn(CommandError(error), asJSON: invocation.wantsJSON) }
            try keychain.setAccessLogged(false)
            try stayingOff { () throws(VaultError) in throw error }
        }
    }

    private static func stayingOff(_ body: () throws(VaultError) -> Void) throws(CommandError) {
        do throws(VaultError) { try body() } catch {
            let row = CommandError.row(of: error.code)
            throw CommandError(code: row.code, exit: row.exit, message: "\(error.message) The log stays off.")
        }
    }

    private static func told(_ path: String?) -> String {
        "The access log is on, for all who use the vault. "
            + (path.map { "On this machine it is \($0)." } ?? "There is no home folder for it here.")
    }

    private static func lines(_ records: [AccessRecord]) -> String {
        let commands = records.map(\.access.command.utf8.count).max() ?? 0
        let names = records.map { shown($0.access.name).count }.max() ?? 0
        return records.map { record in
            let access = record.access
            var who = access.program.isEmpty ? "unknown" : access.program.onOneLine
            if access.process > 0 { who += " (\(access.process))" }
            if access.user != UInt64(getuid()) { who += ", user \(access.user)" }
            if !access.started.isEmpty { who += ", started \(access.started.onOneLine)" }
            return Timestamp.text(record.date) + "  " + TextLayout.padded(access.command, to: commands) + "  "
                + TextLayout.padded(shown(access.name), to: names) + "  \(who)\n"
        }.joined()
    }

    private static func shown(_ name: String) -> String { name.isEmpty ? "-" : StandardOutput.shown(name) }

    private static func damaged(_ damage: [AccessReport.Damage]) -> CommandError {
        let positions = damage.prefix(3).map { "byte \(Quantity.number($0.offset)) of \($0.path)" }
        let more = damage.count > positions.count ? " and \(damage.count - positions.count) more places" : ""
        return CommandError(
            code: "damaged", exit: .damaged,
            message: "The access log was changed or is damaged, at \(positions.joined(separator: ", "))\(more). "
                + "What is intact is shown. To begin a new log, move the file away.")
    }
}

extension AccessRecord {
    fileprivate var date: Date { Date(timeIntervalSince1970: Double(time) / 1000) }

    fileprivate var json: JSONObject {
        [
            "number": number, "name": access.name.nonEmpty, "time": Timestamp.text(date), "command": access.commandName,
            "program": access.program.nonEmpty, "process": access.process == 0 ? nil : access.process,
            "user": access.user, "started": access.started.nonEmpty, "refused": access.isRefused,
        ]
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

extension LoggedChange {
    private var shownTime: String { Timestamp.text(Date(milliseconds: time)) }

    fileprivate var json: JSONObject {
        [
            "time": shownTime, "name": name, "removed": isRemoval, "author": author?.name,
            "author_was_member": author?.wasMember, "seen": seen.map { Int(clamping: $0) },
        ]
    }

    /// Says of each change who has made it, or that nobody has signed it: a name of a member or of an entry cannot look
    /// like the one or the other.
    ///
    /// - Parameter hasMembers: of a vault that never had any, nothing is said.
    fileprivate func line(hasMembers: Bool) -> String {
        let unsigned = hasMembers ? "  unsigned" : ""
        let author = author.map { "  \($0.line) after \(seen ?? 0)" }
        return "\(shownTime)\(author ?? unsigned)  \(StandardOutput.shown(name))\(isRemoval ? " (removed)" : "")\n"
    }
}
