import FoundationEssentials
import Glibc
import SealedLog
import Vault

enum LogCommand: Command {
    static let description = CommandDescription(
        name: .log, section: .vault, summary: "show which values were read, when, and by which program",
        arguments: [
            .init(name: "NAME", count: .optional, completion: .secretName, help: "Show only reads of this name.")
        ],
        options: [
            .init(name: .last, value: "N", help: "Show the last N reads."),
            .init(
                name: .since, value: "TIME",
                help: "Show reads since a UTC time (2026-01-31 or 2026-01-31T09:05:00Z), or within a span such as 8h."),
            .init(
                name: .head,
                help: "Print this history's identifying word, or check that it includes NAME, another machine's word."),
            .init(name: .changes, help: "Show the changes that the vault still contains, and the member behind each."),
            .init(name: .on, help: "Record reads from now on, for all users of the vault."),
            .init(name: .off, help: "Stop recording. Existing records are kept."),
        ],
        details: """
            The access log is off by default. Whether it is on is a setting of the vault, for all its users. Each \
            machine has its own log, sealed like the vault, next to its rollback memory (see `vault help locations`).

            Shows, oldest first: the time, the command, the name, the program that ran the command, its process, and \
            its user if that is not you; for `vault run`, also the program that was started. Each read by a `vault` \
            command is recorded before the value is passed on, or is recorded as refused if the entry's policy refuses \
            it. If the log cannot be written, the value is not read. Programs that use the library record nothing.

            Changed, removed and moved records are detected. But the log cannot reveal that its end is missing, or \
            that the file was deleted. It holds 16 MiB; when it is full, the older half is dropped. A power \
            loss may remove or damage the last records.

            If a vault is on a server or is synchronized, users of two machines can compare the words that --head \
            prints, by chat or git, and so detect that their histories differ.

            --changes shows, oldest first: the time, the member who signed the change (if the vault has members), the \
            number of the last change that the member had seen, and the name.

            With the attribute policy=run, only `vault run` can read a value and the fields of that login. The policy \
            only guards against mistakes: anyone who can open the vault can lift it with `vault attr NAME policy=`. \
            Nothing else lifts it. A replacement, a copy and an earlier value keep the policy, and so do the fields of \
            a login. A name that is removed and set again starts without a policy.
            """,
        examples: [
            .init("vault log --on", "record reads from now on"),
            .init("vault log u.token --since 7d", "show this week's reads"),
        ],
        exitCodes: [
            .init(.usage, "--on or --off with another option, or an invalid time"),
            .init(.alarm, "with --head: this history does not include the other machine's"),
            .init(.damaged, "the log was changed; its intact records are shown"),
            .init(.inputOutput, "the log cannot be read or written"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard !invocation.has(.on), !invocation.has(.off) else { return try setAccessLogged(invocation) }
        if invocation.has(.head) { return try compareHeads(invocation) }
        if invocation.has(.changes) { return try showChanges(invocation) }
        let last = try invocation.number(of: .last)
        let since = try invocation.since
        let keychain = try invocation.openVault()
        let isOn = try keychain.accessLog.isOn()
        let report = try keychain.accessLog.report()
        var shown = report.records
        // The comparison is bytewise, because two spellings of an accented letter are equal as Swift strings.
        if let name = invocation.arguments.first { shown.removeAll { !$0.access.name.utf8.elementsEqual(name.utf8) } }
        if let since { shown.removeAll { $0.time < since } }
        if let last { shown = shown.suffix(last) }
        let json: JSONObject = [
            "is_on": isOn, "file": keychain.accessLog.path, "dropped": report.dropped, "accesses": shown.map(\.json),
        ]
        _ = try invocation.finish(json: json) { lines(shown) }
        if !isOn, !invocation.wantsJSON {
            Notes.inform("The access log is off. Switch it on with `\(AdvisedCommand(invocation).line("log --on"))`.")
        }
        if !report.damage.isEmpty { throw damaged(report.damage) }
        return .success
    }

    private static func compareHeads(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        guard let other = invocation.arguments.first else {
            let head = try keychain.copies.head()
            return try invocation.finish(json: ["head": head]) { head + "\n" }
        }
        let problem: String
        switch try keychain.copies.compare(head: other) {
        case .included:
            let head = try keychain.copies.head()
            return try invocation.finish(json: ["head": head]) {
                "This vault's history includes the other machine's.\n"
            }
        case .excluded: problem = "This vault's history does not include the other machine's, so the two have diverged."
        case nil:
            problem =
                "This history ends before the other machine's. It is out of date, or more changes were made on that "
                + "machine."
        case .unknown: throw CommandError.other("Cannot compare: the given word predates this vault's last compaction.")
        }
        throw CommandError(code: "diverged", exit: .alarm, message: problem)
    }

    private static func showChanges(_ invocation: Invocation) throws -> ExitCode {
        let last = try invocation.number(of: .last)
        let since = try invocation.since
        let keychain = try invocation.openVault()
        var changes = try keychain.members.loggedChanges()
        let hasMembers = try keychain.members.hasHistory
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
        let isChanged = try keychain.accessLog.isOn() != isOn
        let access = invocation.access(to: "", action: isOn ? "--on" : "--off")
        // Tests the log before turning it on: while it is on but not writable, no value can be read.
        if isOn, isChanged { try stayingOff { try keychain.accessLog.check() } }
        do throws(VaultError) { try keychain.accessLog.set(on: isOn) } catch {
            if isChanged { try? keychain.accessLog.record(evenIfOff: true) { access.refused } }
            throw error
        }
        // The access log records that it was turned on or off, but only once the change has succeeded.
        if isChanged { try record(access, isOn, in: keychain, invocation) }
        let path = keychain.accessLog.path
        let exit = try invocation.finish(keychain, json: ["is_on": isOn, "file": path])
        if !invocation.wantsJSON { Notes.inform(isOn ? switchedOn(path) : "The access log is off.") }
        return exit
    }

    /// Records that the log was turned on or off. If recording fails, turning the log on is undone, but turning it off
    /// stays in effect, with a warning.
    private static func record(_ access: Access, _ isOn: Bool, in keychain: Keychain, _ invocation: Invocation) throws {
        do throws(VaultError) { try keychain.accessLog.record(evenIfOff: true) { access } } catch {
            guard isOn else {
                return Notes.warn(
                    CommandError(error, advising: AdvisedCommand(invocation)), asJSON: invocation.wantsJSON)
            }
            try keychain.accessLog.set(on: false)
            try stayingOff { throw error }
        }
    }

    private static func stayingOff(_ body: () throws -> Void) throws {
        do { try body() } catch let error as VaultError {
            let row = CommandError.row(of: error.code)
            throw CommandError(code: row.code, exit: row.exit, message: "\(error.message) The log stays off.")
        }
    }

    private static func switchedOn(_ path: String?) -> String {
        "The access log is on, for all users of the vault. "
            + (path.map { "On this machine, it is kept in \($0)." } ?? "This machine has no home folder to keep it in.")
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
        let more = damage.count > positions.count ? " and \(damage.count - positions.count) more positions" : ""
        return CommandError(
            code: "damaged", exit: .damaged,
            message: "The access log was modified or damaged, at \(positions.joined(separator: ", "))\(more). "
                + "Only intact records are shown. Move the file away to start a new log.")
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

extension String { fileprivate var nonEmpty: String? { isEmpty ? nil : self } }

extension LoggedChange {
    private var shownTime: String { Timestamp.text(Date(milliseconds: time)) }

    fileprivate var json: JSONObject {
        [
            "time": shownTime, "name": name, "removed": isRemoval, "author": author?.name,
            "author_was_member": author?.wasMember, "seen": seen.map { Int(clamping: $0) },
        ]
    }

    /// Returns a line that names a change's author, or marks the change as unsigned. No entry name can imitate either.
    ///
    /// - Parameter hasMembers: whether the vault has had members. If not, unsigned changes are not marked.
    fileprivate func line(hasMembers: Bool) -> String {
        let unsigned = hasMembers ? "  unsigned" : ""
        let author = author.map { "  \($0.line) after \(seen ?? 0)" }
        return "\(shownTime)\(author ?? unsigned)  \(StandardOutput.shown(name))\(isRemoval ? " (removed)" : "")\n"
    }
}
