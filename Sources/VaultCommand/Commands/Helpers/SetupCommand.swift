import Formats
import LinuxSystem
import Vault

// The common part of the `vault setup PROGRAM` commands: each adds some lines to a program's configuration, prints
// them, and can remove them again.

/// Lines in the configuration of another program.
struct Setting {
    /// The lines that are written, as shown to the user.
    let lines: [String]
    /// The command that removes the lines, if it is run instead of an edit of a file; otherwise nil.
    var undoing: [String]?
    /// Writes the lines. Returns whether that changed anything.
    let write: () throws -> Bool
    /// Removes the lines. Returns whether that changed anything.
    let undo: () throws -> Bool
}

extension OptionDescription {
    static let dryRun = OptionDescription(name: .dryRun, help: "Show what would be written, but write nothing.")
    static let undo = OptionDescription(name: .undo, help: "Remove exactly these lines, if they exist.")
}

extension HelperName {
    /// Warns if another program cannot start this tool by the name of the helper.
    func noteIfMissing(for program: String) {
        if OtherProgram.isInstalled(rawValue) { return }
        Notes.inform("\(program) runs \(rawValue), which is not in the PATH. Create it as a symbolic link to `vault`.")
    }
}

extension Invocation {
    /// Applies a setting as the options say.
    func finish(_ setting: Setting) throws -> ExitCode {
        let isWritten = has(.dryRun) ? false : try has(.undo) ? setting.undo() : setting.write()
        let lines = has(.undo) ? setting.undoing ?? setting.lines : setting.lines
        let exit = try finish(json: ["settings": lines, "written": isWritten]) { lines.map { $0 + "\n" }.joined() }
        if !wantsJSON { Notes.inform(outcome(isWritten)) }
        return exit
    }

    private func outcome(_ isWritten: Bool) -> String {
        switch (has(.dryRun), has(.undo), isWritten) {
        case (true, _, _): "Nothing was changed: this is a dry run."
        case (false, false, true): "Written. Use `--undo` to remove it."
        case (false, false, false): "The setting already exists; nothing was changed."
        case (false, true, true): "Removed."
        case (false, true, false): "No such setting exists, or it was written with other options; nothing was changed."
        }
    }

    /// Returns the options that name the vault and its key, for a command line that another program runs. Relative
    /// paths become absolute.
    func handedOn() throws -> [String] {
        guard !has(.keyFD) else { throw UsageError.descriptorHandedOn }
        var words: [String] = []
        if let vault = value(of: .vault) {
            // A section's name is not a path, and is passed on as it is.
            let isPath = try location().vault == vault
            words += [OptionName.vault.spelling, isPath ? absolutePath(vault) : vault]
        }
        for option in [OptionName.keyFile, .identity] {
            if let path = value(of: option) { words += [option.spelling, absolutePath(path)] }
        }
        if let command = value(of: .keyCommand) { words += [OptionName.keyCommand.spelling, command] }
        return words
    }
}
