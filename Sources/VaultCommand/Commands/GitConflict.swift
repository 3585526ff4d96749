import LinuxSystem

/// A merge by git, whose driver gets both sides in temporary files. git removes them: messages name the vault by its
/// path in the repository, and say how to get the other side.
struct GitConflict {
    private let vault: String
    private let side: GitSide
    private let advised: AdvisedCommand
    /// The temporary files, and what messages call them.
    private let names: [(temporary: String, shown: String)]

    /// - Parameter path: in the repository, in whose folder git runs its driver.
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

    /// Returns an error whose commands work once git has left the conflict.
    func told(_ error: CommandError) -> CommandError {
        var error = error
        // Within a command, the paths are words of the shell's.
        for (temporary, shown) in names {
            error.message = error.message.replacing(AdvisedCommand.path(temporary), with: AdvisedCommand.path(shown))
                .replacing(AdvisedCommand.word(temporary), with: AdvisedCommand.word(shown))
                .replacing(temporary, with: shown)
        }
        let adding =
            "git -C \(AdvisedCommand.word(vault.parentFolder)) add "
            + AdvisedCommand.word("./" + vault.lastPathComponent)
        // A refusal says itself how the vault comes to what is to be added.
        let ending =
            error.exit == .alarm
            ? "Then tell git: \(adding)"
            : "Once it can be merged: \(advised.merge([side.file])), and tell git: \(adding)"
        error.message =
            "\(vault) is in conflict now. First write the other side to a file: \(side.command)\n"
            + "\(error.message)\n\(ending)"
        return error
    }
}
