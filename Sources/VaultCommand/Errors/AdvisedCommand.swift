import LinuxSystem
import Vault

/// A command that a message recommends, ready to be copied. It repeats the user's options for the vault and its key.
struct AdvisedCommand {
    /// The value of `--vault` on the current command line, if given, and the vault's path.
    private var vault: (option: String?, path: String?)
    /// The options that name the key, each preceded by a space.
    private var keyOptions: String
    /// The key options for a vault named by its path. No section of the configuration applies to such a vault.
    private var otherKeyOptions: String

    /// - Parameters:
    ///   - keyOptions: the options on the current command line that name the key.
    ///   - keyFile: the key file that the vault's section of the configuration names.
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

    func of(_ path: String) -> AdvisedCommand {
        var other = self
        other.vault = (path, path)
        other.keyOptions = otherKeyOptions
        return other
    }

    /// - Parameter path: the path of the vault; nil for the vault of the current command line.
    func line(_ words: String, of path: String? = nil) -> String {
        let option = path == nil || path == vault.path ? vault.option : path
        let vaultOption = option.map { " \(AdvisedCommand.option(OptionName.vault.spelling, $0))" } ?? ""
        return "vault\(vaultOption)\(option == vault.option ? keyOptions : otherKeyOptions) \(words)"
    }

    func merge(_ copies: [String], into path: String? = nil, with option: OptionName? = nil) -> String {
        let options = option.map { [$0.spelling] } ?? []
        return line((["merge"] + options + copies.map { AdvisedCommand.path($0) }).joined(separator: " "), of: path)
    }

    /// The section of the configuration that `--vault` names on the current command line; nil if it names none.
    var section: String? { vault.option == vault.path ? nil : vault.option }

    /// Returns the two ways to name a key file for the vault: an option, and a permanent setting.
    ///
    /// - Parameter path: the path of the key file; nil if the user has to fill it in.
    func keyFileSetting(_ path: String? = nil) -> String {
        let path = path.map(absolutePath)
        let option = "\(OptionName.keyFile.spelling) \(path.map { AdvisedCommand.word($0) } ?? "PATH")"
        // VAULT_KEY_FILE does not apply if `--vault` names a section of the configuration.
        return section.map {
            "\(option), or write `key-file = \(path ?? "PATH")` in the section [\($0)] of the configuration"
        } ?? "\(option), or set VAULT_KEY_FILE"
    }

    /// The part of a message that says how to declare in the configuration that git manages the vault.
    var gitSetting: String {
        section.map { "write `kept-in = git` in the section [\($0)] of the configuration" }
            ?? "give the vault a section with `kept-in = git` in the configuration"
    }

    func settingPolicy(_ policy: String, of entry: String) -> String {
        line("attr \(AdvisedCommand.name(entry)) \(Login.policyKey)=\(policy)")
    }

    func liftingPolicy(of entry: String) -> String {
        "To remove the policy, run `\(settingPolicy("", of: entry))`."
    }

    /// Returns a copy of this command with a key file instead of the key options.
    ///
    /// - Parameter word: the key file's path, quoted for the shell, or a placeholder; nil to omit the key options.
    func withKeyFile(_ word: String?) -> AdvisedCommand {
        var other = self
        other.keyOptions = word.map { " \(OptionName.keyFile.spelling) \($0)" } ?? ""
        other.otherKeyOptions = other.keyOptions
        return other
    }

    static func option(_ spelling: String, _ value: String) -> String {
        "\(spelling)\(value.isOption ? "=" : " ")\(word(value))"
    }

    static func path(_ path: String) -> String { word(path.isOption ? "./" + path : path) }

    static func name(_ name: String) -> String {
        if name.isOption { return "-- \(word(name))" }
        return name.shellWord == name ? name : word(name)
    }

    /// Returns a word quoted for the shell. If a terminal would not show the word unchanged, returns an ASCII `printf`
    /// command that prints it. Line feeds at the end of the word are then lost, because the shell drops them.
    ///
    /// - Parameter inASCII: whether to use `printf` also for words that contain characters outside ASCII.
    static func word(_ text: String, inASCII: Bool = false) -> String {
        let isSeen =
            !text.unicodeScalars.contains(where: \.isUnsafeOnTerminal)
            && (!inASCII || text.utf8.allSatisfy { $0 < 0x80 })
        guard !isSeen else { return ShellQuoting.quoted(text) }
        // A leading dash is escaped, because printf would read the word as an option.
        let pieces = text.utf8.enumerated().map { index, byte in
            let isPlain = (0x20..<0x7F).contains(byte) && !(index == 0 ? "-%'\\" : "%'\\").utf8.contains(byte)
            let octal = String(byte, radix: 8)
            return isPlain
                ? String(UnicodeScalar(byte)) : "\\" + String(repeating: "0", count: 3 - octal.utf8.count) + octal
        }
        return "\"$(printf '\(pieces.joined())')\""
    }
}

/// The other side's version of a vault that has a merge conflict in git.
struct GitSide {
    /// A shell command that writes the other side's version to a file, and the path of that file.
    let (command, file): (String, String)

    /// - Parameters:
    ///   - reference: git's name for the version, such as MERGE_HEAD, or :3 for a file in conflict.
    ///   - path: the path of the vault.
    init(_ reference: String, of path: String) {
        file = "\(path).other"
        let folder = path.parentFolder
        let object = "\(reference):./\(path.lastPathComponent)"
        // Without --no-textconv, `git show` would write the list of names that `git diff` uses to compare vaults.
        command =
            "git -C \(AdvisedCommand.word(folder)) show --no-textconv \(AdvisedCommand.word(object)) > "
            + AdvisedCommand.word(file)
    }
}
