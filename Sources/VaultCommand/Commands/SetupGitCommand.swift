enum SetupGitCommand: Command {
    static let description = CommandDescription(
        name: .setupGit, summary: "let git keep its credentials in the vault",
        options: [.init(name: .local, help: "For this repository, not for all of yours."), .dryRun, .undo],
        details: [
            """
            Adds `vault git-credential` to git's credential helpers. Those that git has already stay: it asks one \
            after the other, and stores in all of them. `git config --get-all credential.helper` lists them.
            """,
            "With --vault or --key-file, git uses this vault and key.",
        ],
        examples: [
            .init("vault setup git", "for all repositories"),
            .init("vault setup git --local --vault work", "for one, with a vault of its own"),
            .init("vault setup git --undo", "no longer"),
        ],
        exitCodes: [.init(.other, "git is not installed, or with --local, this is no git repository")])

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
