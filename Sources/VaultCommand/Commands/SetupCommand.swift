import Formats
import LinuxSystem
import Vault

// What the commands `vault setup PROGRAM` have in common: each writes some lines to the configuration of a program,
// says which, and takes them out again.

/// Lines in the configuration of another program.
struct Setting {
    /// What is written, for a person: one line each.
    let lines: [String]
    /// What takes them out again, if a program does that; nil if they are taken out of a file.
    var undoing: [String]?
    /// Returns whether there was something to write.
    let write: () throws -> Bool
    /// Returns whether there was something to take out.
    let undo: () throws -> Bool
}

extension OptionDescription {
    static let dryRun = OptionDescription(name: .dryRun, help: "Show what would be written, and write nothing.")
    static let undo = OptionDescription(name: .undo, help: "Take exactly these lines out again, if they are there.")
}

extension HelperName {
    /// Tells a person if another program cannot start this tool by the name of the helper.
    func noteIfMissing(for program: String) {
        if OtherProgram.isInstalled(rawValue) { return }
        Notes.tell("\(program) starts \(rawValue), which is not on the PATH. Create it as a symbolic link to `vault`.")
    }
}

extension Invocation {
    /// Carries a setting out as the options say.
    func finish(_ setting: Setting) throws -> ExitCode {
        let isWritten = has(.dryRun) ? false : try has(.undo) ? setting.undo() : setting.write()
        let lines = has(.undo) ? setting.undoing ?? setting.lines : setting.lines
        let exit = try finish(json: ["settings": lines, "written": isWritten]) { lines.map { $0 + "\n" }.joined() }
        if !wantsJSON { Notes.tell(outcome(isWritten)) }
        return exit
    }

    private func outcome(_ isWritten: Bool) -> String {
        switch (has(.dryRun), has(.undo), isWritten) {
        case (true, _, _): "Nothing was changed: this is a dry run."
        case (false, false, true): "Written. `--undo` takes it out again."
        case (false, false, false): "It was there already; nothing was changed."
        case (false, true, true): "Taken out."
        case (false, true, false): "It is not there, or was set up with other options; nothing was changed."
        }
    }

    /// Returns the options that name the vault and its key, for a command line that another program runs: as they are
    /// given here, with paths from the root.
    func handedOn() throws -> [String] {
        guard !has(.keyFD) else { throw UsageError.descriptorHandedOn }
        var words: [String] = []
        if let vault = value(of: .vault) {
            // A section of the configuration leads to a path of its own.
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
