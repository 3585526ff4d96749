import LinuxSystem
import Vault

enum SetupGitMergeCommand: Command {
    static let description = CommandDescription(
        name: .setupGitMerge, section: .copies, summary: "set up git to merge and compare vaults in this repository",
        options: [.init(name: .dryRun, help: "Show what would be written, but write nothing.")],
        details: """
            Adds a merge driver and a converter for `git diff` to the repository's configuration, and one line to its \
            .gitattributes. git then compares names, sizes and times, never values. Remove these lines to undo it.

            git passes the vault as a temporary file, so no section of vault's configuration applies to it. If the \
            vault's key is at none of the locations that `vault help locations` lists, name it here, with --key-file, \
            --key-command or --identity, or with --vault NAME for the key of a configured vault.
            """,
        examples: [
            .init("vault setup git-merge --dry-run", "preview the lines"),
            .init("vault setup git-merge --vault team", "use the key of a configured vault"),
        ],
        exitCodes: [.init(.other, "this is not a git repository, or git is not installed")])

    private static let line = "*.vault -text merge=vault diff=vault"

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let path = try OtherProgram.run(["git", "rev-parse", "--show-toplevel"]) + "/.gitattributes"
        let file = try EditedFile(path, mode: 0o644)
        try NewFile.checkGitConfiguration(isGlobal: false)
        let settings = settings(namingKey: try keyOptions(invocation))
        let lines = settings.map { "git config \($0.0) \(ShellQuoting.quoted($0.1))\n" }.joined() + "\(path): \(line)\n"
        if !invocation.has(.dryRun) {
            for (name, value) in settings { _ = try OtherProgram.run(["git", "config", name, value]) }
            let contents = FileLines(file.contents)
            if contents.range(of: [line]) == nil { _ = try file.write(contents.adding([line])) }
        }
        return try invocation.finish(json: ["attributes": path, "written": !invocation.has(.dryRun)]) { lines }
    }

    /// Returns the names and values of git's settings. Before git runs the driver in a shell, it replaces %A with our
    /// version's path, %B with the other version's path, and %P with the vault's quoted path in the repository.
    private static func settings(namingKey options: String) -> [(name: String, value: String)] {
        let vault = OtherProgram.line([OtherProgram.ownWord])
        return [
            ("merge.vault.name", "merge of vaults"),
            (
                "merge.vault.driver",
                "\(vault) merge --detached\(options.replacing("%", with: "%%")) --git-path %P --vault %A %B"
            ),
            ("diff.vault.textconv", "\(vault) ls --long --detached\(options) --vault"),
        ]
    }

    /// Returns the options that specify the key. If the key file is at its standard path, no option is needed.
    private static func keyOptions(_ invocation: Invocation) throws -> String {
        guard !invocation.has(.keyFD) else { throw UsageError.descriptorHandedOn }
        let location = try invocation.location()
        var options: [(OptionName, String)] = []
        if let command = location.keyCommand {
            options.append((.keyCommand, command))
        } else if location.keyFile != (try VaultLocation.standard(vault: location.vault)).keyFile {
            options.append((.keyFile, absolutePath(location.keyFile)))
        }
        if let identity = location.identityFile { options.append((.identity, absolutePath(identity))) }
        return options.map { " \(AdvisedCommand.option($0.0.spelling, $0.1))" }.joined()
    }
}

/// A conflict during a git merge. git deletes its temporary files for the two versions, so messages name the vault by
/// its path in the repository and explain how to write the other version to a file.
struct GitConflict {
    private let vault: String
    private let side: GitSide
    private let advised: AdvisedCommand
    /// The paths of git's temporary files, each with the path that messages show in its place.
    private let names: [(temporary: String, shown: String)]

    /// - Parameter path: the vault's path relative to the repository's top folder, in which git runs this command.
    init(of path: String, _ invocation: Invocation) {
        vault = absolutePath(path)
        side = GitSide(":3", of: vault)
        advised = AdvisedCommand(invocation).of(vault)
        let pairs = [(invocation.value(of: .vault) ?? "", vault), (invocation.arguments.first ?? "", side.file)]
        names = pairs.filter { !$0.0.isEmpty }.flatMap { temporary, shown in
            [(absolutePath(temporary), shown), (temporary, shown)]
        }
    }

    var sides: MergedSides {
        MergedSides(vault: vault, copy: side.file, shownCopy: "The other version of \(vault)", advised: advised)
    }

    /// Returns the error with its commands changed so that they work after git has deleted its temporary files.
    func explaining(_ error: CommandError) -> CommandError {
        var error = error
        // Commands in the message contain the temporary paths in quoted form, so the quoted forms are replaced too.
        for (temporary, shown) in names {
            error.message = error.message.replacing(AdvisedCommand.path(temporary), with: AdvisedCommand.path(shown))
                .replacing(AdvisedCommand.word(temporary), with: AdvisedCommand.word(shown))
                .replacing(temporary, with: shown)
        }
        let adding =
            "git -C \(AdvisedCommand.word(vault.parentFolder)) add "
            + AdvisedCommand.word("./" + vault.lastPathComponent)
        // If the merge was refused, the message already explains how to produce the merged vault.
        let ending =
            error.exit == .alarm
            ? "Then mark the vault as resolved: \(adding)"
            : "Fix that, merge the file: \(advised.merge([side.file])), and mark the vault as resolved: \(adding)"
        error.message =
            "\(vault) has a merge conflict. First write the other version to a file: \(side.command)\n"
            + "\(error.message)\n\(ending)"
        return error
    }
}
