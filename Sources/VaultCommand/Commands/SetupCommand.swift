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
    let write: () throws -> Void
    let undo: () throws -> Void
}

extension OptionDescription {
    static let dryRun = OptionDescription(name: .dryRun, help: "Show what would be written, and write nothing.")
    static let undo = OptionDescription(name: .undo, help: "Take exactly these lines out again, if they are there.")
}

extension Invocation {
    /// Carries a setting out as the options say.
    func finish(_ setting: Setting) throws -> ExitCode {
        if !has(.dryRun) { try has(.undo) ? setting.undo() : setting.write() }
        let lines = has(.undo) ? setting.undoing ?? setting.lines : setting.lines
        return try finish(json: ["settings": lines, "written": !has(.dryRun)]) { lines.map { $0 + "\n" }.joined() }
    }

    /// Returns the options that name the vault and its key, for a command line that another program runs: as they are
    /// given here, with paths from the root.
    func handedOn() throws -> [String] {
        guard !has(.keyFD) else { throw UsageError.descriptorHandedOn }
        var words: [String] = []
        if let vault = value(of: .vault) {
            // A section of the configuration leads to a path of its own.
            let isPath = try places().vault == vault
            words += [OptionName.vault.spelling, isPath ? absolutePath(vault) : vault]
        }
        for option in [OptionName.keyFile, .identity] {
            if let path = value(of: option) { words += [option.spelling, absolutePath(path)] }
        }
        if let command = value(of: .keyCommand) { words += [OptionName.keyCommand.spelling, command] }
        return words
    }
}
