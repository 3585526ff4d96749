import Formats
import LinuxSystem

/// How messages advise a command, so that it can be copied to the letter: with what the command line has said of the
/// vault and its key.
struct AdvisedCommand {
    /// What `--vault` has said, if it was given, and where the vault of the command line is.
    private var vault: (option: String?, path: String?)
    /// The options that name the key, each after a space.
    private var keyOptions: String
    /// The same for a vault that is named by its path: no section of the configuration applies to it.
    private var otherKeyOptions: String

    /// - Parameters:
    ///   - keyOptions: those that name the key, as they are given.
    ///   - keyFile: the one that a section has named.
    init(
        vault: (option: String?, path: String?) = (nil, nil), keyOptions: [(option: String, value: String)] = [],
        keyFile: String? = nil
    ) {
        func text(_ options: [(option: String, value: String)]) -> String {
            options.map { " \(AdvisedCommand.option($0.option, $0.value))" }.joined()
        }
        self.vault = vault
        self.keyOptions = text(keyOptions)
        let named = keyFile.map { [(option: OptionName.keyFile.spelling, value: $0)] } ?? []
        otherKeyOptions = text(keyOptions.isEmpty ? named : keyOptions)
    }

    /// Returns the same for another vault.
    func of(_ path: String) -> AdvisedCommand {
        var other = self
        other.vault = (path, path)
        other.keyOptions = otherKeyOptions
        return other
    }

    /// Returns a command line.
    ///
    /// - Parameter path: of the vault that it concerns; nil for the one of the command line.
    func line(_ words: String, of path: String? = nil) -> String {
        let option = path == nil || path == vault.path ? vault.option : path
        let vaultOption = option.map { " \(AdvisedCommand.option(OptionName.vault.spelling, $0))" } ?? ""
        return "vault\(vaultOption)\(option == vault.option ? keyOptions : otherKeyOptions) \(words)"
    }

    func merge(_ copies: [String], into path: String? = nil, with option: OptionName? = nil) -> String {
        let options = option.map { [$0.spelling] } ?? []
        return line((["merge"] + options + copies.map { AdvisedCommand.path($0) }).joined(separator: " "), of: path)
    }

    /// Returns the same with a key file instead of what the command line has said of the key.
    ///
    /// - Parameter placeholder: what stands for its path.
    func withKeyFile(_ placeholder: String) -> AdvisedCommand {
        var other = self
        other.keyOptions = " \(OptionName.keyFile.spelling) \(placeholder)"
        other.otherKeyOptions = other.keyOptions
        return other
    }

    // MARK: Words that the shell and the parser read back to the letter

    /// Returns an option with its value.
    static func option(_ spelling: String, _ value: String) -> String {
        "\(spelling)\(value.isOption ? "=" : " ")\(word(value))"
    }

    /// Returns a path as an argument.
    static func path(_ path: String) -> String { word(path.isOption ? "./" + path : path) }

    /// Returns a name as the first argument.
    static func name(_ name: String) -> String {
        if name.isOption { return "-- \(word(name))" }
        return name.shellWord == name ? name : word(name)
    }

    /// Returns a word for the shell. What a terminal would show in another form is written in ASCII alone. A line feed
    /// at the end is not read back.
    ///
    /// - Parameter inASCII: whether all of it is written in ASCII.
    static func word(_ text: String, inASCII: Bool = false) -> String {
        let isSeen =
            !text.unicodeScalars.contains(where: \.isUnsafeOnTerminal)
            && (!inASCII || text.utf8.allSatisfy { $0 < 0x80 })
        guard !isSeen else { return ShellQuoting.quoted(text) }
        // printf takes what begins with a dash for an option.
        let pieces = text.utf8.enumerated().map { index, byte in
            let isPlain = (0x20..<0x7F).contains(byte) && !(index == 0 ? "-%'\\" : "%'\\").utf8.contains(byte)
            let octal = String(byte, radix: 8)
            return isPlain
                ? String(UnicodeScalar(byte)) : "\\" + String(repeating: "0", count: 3 - octal.utf8.count) + octal
        }
        return "\"$(printf '\(pieces.joined())')\""
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
        let (folder, object) = (path.parentFolder, "\(reference):./\(path.lastPathComponent)")
        // `git show` would write the list of names that it compares.
        command =
            "git -C \(AdvisedCommand.word(folder)) show --no-textconv \(AdvisedCommand.word(object)) > "
            + AdvisedCommand.word(file)
    }
}
