import Formats
import LinuxSystem
import Vault

// The common part of the `vault setup PROGRAM` commands. Each command adds some lines to a program's configuration,
// prints them, and can remove them later.

/// Lines that a setup command adds to another program's configuration.
struct Setting {
    /// The setting's lines, as shown to the user.
    let lines: [String]
    /// The lines that `--undo` prints, such as a command that removes the setting; nil if they equal ``lines``.
    var undoing: [String]?
    /// Writes the setting. Returns whether that changed anything.
    let write: () throws -> Bool
    /// Removes the setting. Returns whether that changed anything.
    let undo: () throws -> Bool
}

extension OptionDescription {
    static let dryRun = OptionDescription(name: .dryRun, help: "Show what would be written, but write nothing.")
    static let undo = OptionDescription(name: .undo, help: "Remove exactly these lines, if they exist.")
}

extension HelperName {
    /// Warns if the PATH contains no program with the helper's name, because other programs look for it there.
    func noteIfMissing(for program: String) {
        if OtherProgram.isInstalled(rawValue) { return }
        Notes.inform(
            "\(program) runs \(rawValue), which is not in the PATH. Create it there as a symbolic link to `vault`.")
    }
}

extension Invocation {
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
        case (false, false, true): "Written. Use `--undo` to remove the setting."
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
            // If `--vault` names a section of the configuration, it is not a path and is passed on unchanged.
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

enum SetupGitCommand: Command {
    static let description = CommandDescription(
        name: .setupGit, section: .helpers, summary: "set up git to keep its credentials in the vault",
        options: [.init(name: .local, help: "Only for this repository (default: all)."), .dryRun, .undo],
        details: """
            Adds `vault git-credential` to git's credential helpers. Existing helpers are kept. git queries one after \
            the other, and stores credentials in all of them. List them with `git config --get-all credential.helper`.

            With --vault or --key-file, git uses that vault and key.
            """,
        examples: [
            .init("vault setup git", "set it up for all repositories"),
            .init("vault setup git --local --vault work", "set it up for one repository, with a separate vault"),
            .init("vault setup git --undo", "remove the helper"),
        ],
        exitCodes: [.init(.other, "git is not installed or, with --local, the folder is not in a git repository")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let words = [OtherProgram.ownWord, CommandName.gitCredential.rawValue] + (try invocation.handedOn())
        let helper = "!" + OtherProgram.line(words)
        let scope = ["git", "config", invocation.has(.local) ? "--local" : "--global"]
        let setting = ["credential.helper", helper]
        let adding = scope + ["--add"] + setting
        let removing = scope + ["--fixed-value", "--unset-all"] + setting
        let isThere = (try? OtherProgram.run(scope + ["--fixed-value", "--get-all"] + setting)) != nil
        func change(_ words: [String]) throws -> Bool {
            try NewFile.checkGitConfiguration(isGlobal: !invocation.has(.local))
            _ = try OtherProgram.run(words)
            return true
        }
        return try invocation.finish(
            Setting(
                lines: [OtherProgram.line(adding)], undoing: [OtherProgram.line(removing)],
                write: { try !isThere && change(adding) }, undo: { try isThere && change(removing) }))
    }
}

enum SetupAWSCommand: Command {
    static let description = CommandDescription(
        name: .setupAWS, section: .helpers, summary: "set up AWS tools to get a profile's keys from the vault",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The entry; see `vault help aws-credential`.")],
        options: [.init(name: .profile, value: "PROFILE", help: "The profile (default: default)."), .dryRun, .undo],
        details: """
            Adds a credential_process line to the profile in $AWS_CONFIG_FILE or ~/.aws/config. Other lines of the \
            file are kept.

            AWS tools prefer keys of the same profile in ~/.aws/credentials, so remove those keys.
            """,
        examples: [.init("vault setup aws aws/work --profile work", "then run: aws --profile work s3 ls")],
        exitCodes: [.init(.refused, "the profile has another credential_process")])

    private static let key = "credential_process"

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let profile = invocation.value(of: .profile) ?? "default"
        guard AWSProfiles.canName(profile) else {
            throw CommandError.invalid("Invalid profile name: it is empty, or contains \", ] or a line break.")
        }
        let command = OtherProgram.line(
            [OtherProgram.ownWord, CommandName.awsCredential.rawValue, invocation.name] + (try invocation.handedOn()))
        let file = try EditedFile(OtherProgram.path(".aws/config", orIn: "AWS_CONFIG_FILE"))
        var profiles = AWSProfiles(file.contents)
        let former = profiles.value(of: key, in: profile)
        return try invocation.finish(
            Setting(
                lines: ["\(file.path): \(AWSProfiles.header(of: profile))", "\(key) = \(command)"],
                write: {
                    guard former == nil || former == command else {
                        throw CommandError.refused(
                            "The profile \(profile) in \(file.path) has a different \(key). Remove it first.")
                    }
                    if former == nil { profiles.add(key, command, to: profile) }
                    return try file.write(profiles.bytes)
                },
                undo: {
                    profiles.remove(key, command, from: profile)
                    return try file.write(profiles.bytes)
                }))
    }
}

enum SetupDirenvCommand: Command {
    static let description = CommandDescription(
        name: .setupDirenv, section: .helpers, summary: "set up direnv to get variables from the vault",
        options: [.dryRun, .undo],
        details: """
            Adds the function `use_vault` to direnv/direnvrc in $XDG_CONFIG_HOME (default: ~/.config). Other lines of \
            the file are kept. In a file .envrc, write `use vault`, followed by the arguments of `vault env`.

            If a value is missing, an error is reported and no variable is set. direnv continues after a failure, \
            unless .envrc begins with `strict_env`.

            With --vault or --key-file, the function uses that vault and key.
            """,
        examples: [
            .init("vault setup direnv", "then write in a file .envrc: use vault GH_TOKEN=gh/token"),
            .init("vault setup direnv --undo", "remove the function"),
        ],
        exitCodes: [.init(.refused, "the file has a different function of this name")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let words = ([OtherProgram.ownWord, "env"] + (try invocation.handedOn())).map { OtherProgram.line([$0]) }
        let function = [
            "# Variables from the vault, in .envrc: use vault NAME=ENTRY",
            "use_vault() {",
            "  local variables",
            // eval would hide a failure of `vault env`, so the function assigns the output to a variable first.
            "  variables=$(\(words.joined(separator: " ")) \"$@\") || return",
            "  eval \"$variables\"",
            "}",
        ]
        let file = try EditedFile(OtherProgram.path(".config", orIn: "XDG_CONFIG_HOME") + "/direnv/direnvrc")
        let lines = FileLines(file.contents)
        let range = lines.range(of: function)
        return try invocation.finish(
            Setting(
                lines: ["# \(file.path)"] + function,
                write: {
                    guard range == nil else { return false }
                    guard !lines.contain("use_vault") else {
                        throw CommandError.refused("\(file.path) has a different function use_vault. Remove it first.")
                    }
                    return try file.write(lines.adding(function))
                },
                undo: { try range.map { try file.write(lines.removing($0)) } ?? false }))
    }
}
