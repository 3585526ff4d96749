import LinuxSystem
import Sealing
import Vault

enum EditCommand: Command {
    static let description = CommandDescription(
        name: .edit, summary: "change a value in your editor",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name. A new one is created.")],
        details: [
            """
            Opens the value in $VISUAL, $EDITOR or vi. The file is on a file system in memory, in a folder of its own \
            that nobody else can open. Afterwards the folder is wiped with all that the editor has left in it. If \
            there is no such file system, the command refuses.
            """,
            """
            What the editor itself keeps elsewhere is not wiped: vim's undo files and its copied lines in ~/.viminfo, \
            say. With EDITOR="vim -n -i NONE --cmd 'set noundofile'" it keeps nothing.
            """,
            """
            Nothing is stored if the value is unchanged, if it is empty, or if the editor fails. The editor's own \
            final newline is not part of the value unless the value had one; a new value is read as by `vault set`. \
            Attributes, expiry and type stay. Dates, arrays and dictionaries are edited as `vault get` shows them.
            """,
            """
            If another process changes the entry meanwhile, or the text cannot be stored, it is kept in memory, and \
            the error says where, which command stores it, and which removes it then.
            """,
            """
            If vault is killed by SIGKILL, its folder stays until the editor has ended and the next `vault edit` or \
            `vault doctor` removes it.
            """,
        ],
        examples: [
            .init("vault edit mail/work.notes", "change it, or create it")
        ],
        exitCodes: [
            .init(.refused, "the editor failed, the value is not text, or the entry was changed meanwhile"),
            .init(.inputOutput, "there is no file system in memory"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try Naming.name.check(invocation.name)
        let former = try invocation.openVaultIfAny()
        let entry = try EditedEntry.read(invocation.name, in: former) { name in
            try former.flatMap { try invocation.readingEntry(name, from: $0) }
        }
        guard let (keychain, size) = try edit(entry, in: former, invocation) else {
            if !invocation.wantsJSON { Notes.tell("Unchanged; nothing was stored.") }
            return try invocation.finish(json: report(entry, size: entry.shown.count, "unchanged"))
        }
        let outcome = entry.kind == nil ? "stored" : "replaced"
        return try invocation.finish(keychain, json: report(entry, size: size, outcome))
    }

    /// Returns the vault in which the new value is stored, and the value's size; nil if it is unchanged.
    private static func edit(
        _ entry: borrowing EditedEntry, in former: Keychain?, _ invocation: Invocation
    ) throws -> (Keychain, size: Int)? {
        if ScratchFolder.removeLeftovers() > 0, !invocation.wantsJSON {
            Notes.tell("Removed what a killed `vault edit` had left in memory.")
        }
        let scratch = try ScratchFolder.create(containing: entry.shown)
        try TextEditor.edit(scratch.file, holding: scratch.signals)
        scratch.endEditing()
        let typed: SecretBytes
        do { typed = try ValueInput.readFile(at: scratch.file) } catch {
            guard scratch.hasText else { throw error }
            throw kept(scratch.keep(), as: entry, in: former, invocation, CommandError(error))
        }
        guard let text = entry.changed(typed) else { return nil }
        guard text.count > 0 else { throw emptied }
        let size = text.count
        do {
            let value = try entry.value(text)
            let keychain = try former ?? invocation.openVault(creatingIfAbsent: true)
            try entry.store(value, in: keychain)
            return (keychain, value.bytes.count)
        } catch {
            throw kept(scratch.keep(size), as: entry, in: former, invocation, CommandError(error))
        }
    }

    private static let emptied = CommandError.refused(
        "The value is empty; nothing was stored. Use `vault rm`, or `vault set --allow-empty`.")

    /// Says where the person finds what was typed, and how it is stored in spite of the error.
    private static func kept(
        _ path: String, as entry: borrowing EditedEntry, in keychain: Keychain?, _ invocation: Invocation,
        _ error: CommandError
    ) -> CommandError {
        let file = AdvisedCommand.option(OptionName.file.spelling, path)
        let type = entry.type.map { "\(OptionName.type.spelling) \($0.rawValue) " } ?? ""
        let expiry = entry.expiry(in: keychain).map { "\(OptionName.expires.spelling) \(Timestamp.text($0)) " } ?? ""
        let line = AdvisedCommand(invocation).line("set \(type)\(expiry)\(file) \(AdvisedCommand.name(entry.name))")
        // What is not of the value's type cannot be stored in its place.
        let hint = error.exit == .usage ? "" : " `\(line)` stores it in the place of what is there."
        var error = error
        let removal = "rm -r \(AdvisedCommand.path(path.parentFolder))"
        error.message +=
            " What you have typed is in memory only, in \(path).\(hint) `\(removal)` removes it when it is not needed."
        return error
    }

    private static func report(_ entry: borrowing EditedEntry, size: Int, _ outcome: String) -> JSONObject {
        ["name": entry.name, "size": size, "outcome": outcome]
    }
}
