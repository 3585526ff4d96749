import Formats
import LinuxSystem

/// How messages advise a command, so that it can be copied to the letter: with what the command line has said of the
/// vault and its key.
struct AdvisedCommand {
    /// What `--vault` has said, if it was given, and where the vault of the command line is.
    private var vault: (option: String?, path: String?)
    /// The options that name the key, each after a space.
    private let keyOptions: String

    /// - Parameter keyOptions: those that name the key, as they are given.
    init(vault: (option: String?, path: String?) = (nil, nil), keyOptions: [(option: String, value: String)] = []) {
        self.vault = vault
        self.keyOptions = keyOptions.map { " \($0.option) \(ShellQuoting.quoted($0.value))" }.joined()
    }

    /// Returns the same for another vault.
    func of(_ path: String) -> AdvisedCommand {
        var other = self
        other.vault = (path, path)
        return other
    }

    /// Returns a command line.
    ///
    /// - Parameter path: of the vault that it concerns; nil for the one of the command line.
    func line(_ words: String, of path: String? = nil) -> String {
        let option = path == nil || path == vault.path ? vault.option : path
        return "vault\(option.map { " --vault \(ShellQuoting.quoted($0))" } ?? "")\(keyOptions) \(words)"
    }

    func merge(_ copies: [String], into path: String? = nil) -> String {
        line((["merge"] + copies.map { ShellQuoting.quoted($0) }).joined(separator: " "), of: path)
    }
}

/// The other side of a vault that git has not merged.
struct GitSide {
    /// A command that writes it to a file; and that file.
    let (command, file): (String, String)

    /// - Parameters:
    ///   - reference: what git calls the side, such as MERGE_HEAD, or :3 for a file in conflict.
    ///   - path: of the vault.
    init(_ reference: String, of path: String) {
        file = "\(path).other"
        let (folder, place) = (path.parentFolder, "\(reference):./\(path.lastPathComponent)")
        // `git show` would write the list of names that it compares.
        command =
            "git -C \(ShellQuoting.quoted(folder)) show --no-textconv \(ShellQuoting.quoted(place)) > "
            + ShellQuoting.quoted(file)
    }
}
