import LinuxSystem

/// A merge by git, which passes both sides to its driver in temporary files and then removes them. Messages therefore
/// name the vault by its path in the repository, and say how to get the other side.
struct GitConflict {
    private let vault: String
    private let side: GitSide
    private let advised: AdvisedCommand
    /// The temporary files, and their names in messages.
    private let names: [(temporary: String, shown: String)]

    /// - Parameter path: the path in the repository, in whose top folder git runs its driver.
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
        MergedSides(vault: vault, copy: side.file, shownCopy: "The other side of \(vault)", advised: advised)
    }

    /// Returns an error whose commands work after git has stopped at the conflict.
    func explaining(_ error: CommandError) -> CommandError {
        var error = error
        // Within a command, paths are quoted for the shell.
        for (temporary, shown) in names {
            error.message = error.message.replacing(AdvisedCommand.path(temporary), with: AdvisedCommand.path(shown))
                .replacing(AdvisedCommand.word(temporary), with: AdvisedCommand.word(shown))
                .replacing(temporary, with: shown)
        }
        let adding =
            "git -C \(AdvisedCommand.word(vault.parentFolder)) add "
            + AdvisedCommand.word("./" + vault.lastPathComponent)
        // A refusal already explains how to get the file that is to be added.
        let ending =
            error.exit == .alarm
            ? "Then mark it as resolved: \(adding)"
            : "Once it can be merged: \(advised.merge([side.file])), and mark it as resolved: \(adding)"
        error.message =
            "\(vault) has a merge conflict. First write the other side to a file: \(side.command)\n"
            + "\(error.message)\n\(ending)"
        return error
    }
}
