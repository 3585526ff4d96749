import LinuxSystem
import Vault

enum EditCommand: Command {
    static let description = CommandDescription(
        name: .edit, section: .values, summary: "change a value in your editor",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name. A missing entry is created.")],
        details: """
            Opens the value in $VISUAL, $EDITOR or vi. The file is in a new folder that only you can open, on a file \
            system in memory. Without such a file system, the command fails. Afterwards the folder is wiped, with \
            every file that the editor has left in it.

            Files that the editor keeps elsewhere are not wiped, such as vim's undo files and the copied lines in \
            ~/.viminfo. With EDITOR="vim -n -i NONE --cmd 'set noundofile'" vim keeps none.

            Nothing is stored if the value is unchanged or empty, or if the editor fails. The editor's final newline \
            is not part of the value unless the value had one; a new value is read as by `vault set`. Attributes, \
            expiry and type are kept. Dates, arrays and dictionaries are edited in the form that `vault get` shows.

            If another process changes the entry in the meantime, or the text cannot be stored, the text is kept in \
            memory. The error says where, and gives the commands that store and then remove it.

            If vault is killed by SIGKILL, the folder remains until the editor has ended and the next `vault edit` or \
            `vault doctor` removes it.
            """,
        examples: [.init("vault edit mail/work.notes", "change or create a note")],
        exitCodes: [
            .init(.refused, "the editor failed, the value is not text, or the entry was changed in the meantime"),
            .init(.inputOutput, "no writable in-memory file system was found"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try Naming.name.check(invocation.name)
        let former = try invocation.openVaultIfAny()
        let entry = try EditedEntry.read(invocation.name, in: former) { name in
            try former.flatMap { try invocation.readingEntry(name, from: $0) }
        }
        guard let (keychain, size) = try edit(entry, in: former, invocation) else {
            if !invocation.wantsJSON { Notes.inform("The value is unchanged; nothing was stored.") }
            return try invocation.finish(json: report(entry, size: entry.shown.count, "unchanged"))
        }
        let outcome = entry.kind == nil ? "stored" : "replaced"
        return try invocation.finish(keychain, json: report(entry, size: size, outcome))
    }

    /// Returns the vault in which the new value was stored, and the value's size; nil if the value is unchanged.
    private static func edit(
        _ entry: borrowing EditedEntry, in former: Keychain?, _ invocation: Invocation
    ) throws -> (Keychain, size: Int)? {
        if ScratchFolder.removeLeftovers() > 0, !invocation.wantsJSON {
            Notes.inform("Removed in-memory files that a killed `vault edit` had left behind.")
        }
        let scratch = try ScratchFolder.create(containing: entry.shown)
        try TextEditor.edit(scratch.file, holding: scratch.signals)
        scratch.endEditing()
        let typed: SecretBytes
        do { typed = try ValueInput.readFile(at: scratch.file) } catch {
            guard scratch.hasText else { throw error }
            throw kept(scratch.keep(), as: entry, in: former, invocation, error)
        }
        guard let text = entry.changed(typed) else { return nil }
        guard text.count > 0 else { throw emptied }
        let size = text.count
        do {
            let value = try entry.value(text)
            let keychain = try former ?? invocation.openVault(creatingIfAbsent: true)
            try entry.store(value, in: keychain)
            return (keychain, value.bytes.count)
        } catch { throw kept(scratch.keep(size), as: entry, in: former, invocation, error) }
    }

    private static let emptied = CommandError.refused(
        "The value is empty; nothing was stored. To remove the entry, use `vault rm`; to empty it, "
            + "`vault set --allow-empty`.")

    /// Returns the error with the path of the edited text and, if the text is valid, a command that stores it.
    private static func kept(
        _ path: String, as entry: borrowing EditedEntry, in keychain: Keychain?, _ invocation: Invocation,
        _ error: any Error
    ) -> CommandError {
        let advised = AdvisedCommand(invocation)
        var error = CommandError(error, advising: advised)
        let file = AdvisedCommand.option(OptionName.file.spelling, path)
        let type = entry.type.map { "\(OptionName.type.spelling) \($0.rawValue) " } ?? ""
        let expiry = entry.expiry(in: keychain).map { "\(OptionName.expires.spelling) \(Timestamp.text($0)) " } ?? ""
        let line = advised.line("set \(type)\(expiry)\(file) \(AdvisedCommand.name(entry.name))")
        // A usage error means that the text does not fit the value's type, so the command to store it would fail too.
        let hint = error.exit == .usage ? "" : " To replace the entry with it: `\(line)`."
        let removal = "rm -r \(AdvisedCommand.path(path.parentFolder))"
        error.message +=
            " Your text is kept in memory only, in \(path).\(hint) Remove it when you no longer need it: `\(removal)`."
        return error
    }

    private static func report(_ entry: borrowing EditedEntry, size: Int, _ outcome: String) -> JSONObject {
        ["name": entry.name, "size": size, "outcome": outcome]
    }
}
