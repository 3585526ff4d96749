enum SetupGitCommand: Command {
    static let description = CommandDescription(
        name: .setupGit, section: .helpers, summary: "set up git to keep its credentials in the vault",
        options: [.init(name: .local, help: "Only for this repository (default: for all yours)."), .dryRun, .undo],
        details: [
            """
            Adds `vault git-credential` to git's credential helpers. Existing helpers stay: git asks one after the \
            other, and stores credentials in all of them. List them with `git config --get-all credential.helper`.
            """,
            "With --vault or --key-file, git uses that vault and key.",
        ],
        examples: [
            .init("vault setup git", "set it up for all repositories"),
            .init("vault setup git --local --vault work", "set it up for one, with its own vault"),
            .init("vault setup git --undo", "remove the helper again"),
        ],
        exitCodes: [.init(.other, "git is not installed, or with --local, this is not a git repository")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let words = [OtherProgram.ownWord, CommandName.gitCredential.rawValue] + (try invocation.handedOn())
        let helper = "!" + OtherProgram.line(words)
        let scope = ["git", "config", invocation.has(.local) ? "--local" : "--global"]
        let setting = ["credential.helper", helper]
        let adding = scope + ["--add"] + setting
        let removing = scope + ["--fixed-value", "--unset-all"] + setting
        let isThere = (try? OtherProgram.run(scope + ["--fixed-value", "--get-all"] + setting)) != nil
        return try invocation.finish(
            Setting(
                lines: [OtherProgram.line(adding)], undoing: [OtherProgram.line(removing)],
                write: {
                    if !isThere {
                        try NewFile.checkGitConfiguration(isGlobal: !invocation.has(.local))
                        _ = try OtherProgram.run(adding)
                    }
                    return !isThere
                },
                undo: {
                    if isThere {
                        try NewFile.checkGitConfiguration(isGlobal: !invocation.has(.local))
                        _ = try OtherProgram.run(removing)
                    }
                    return isThere
                }))
    }
}
