/// The names under which other programs start `vault`. For example, git runs `git-credential-vault`.
///
/// Each name is a symbolic link to `vault` in the same folder. `Tools/install` reads the names from this file and
/// creates the links; a package must do the same.
enum HelperName: String, CaseIterable {
    case gitCredential = "git-credential-vault"
    case dockerCredential = "docker-credential-vault"
    case askpass = "vault-askpass"

    /// The command that `vault` runs if it is started under this name, with the arguments of the process.
    var command: CommandName {
        switch self {
        case .gitCredential: .gitCredential
        case .dockerCredential: .dockerCredential
        case .askpass: .askpass
        }
    }

    /// Returns the words to insert before this process's arguments if the process was started from `path`. Returns none
    /// if the last component of `path` is not a helper name.
    static func words(forProgramAt path: String) -> [String] {
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
        guard let helper = HelperName(rawValue: String(name)) else { return [] }
        // If the -- were missing, a server could send --help as its prompt, and the help text would be the answer.
        return [helper.command.rawValue] + (helper == .askpass ? ["--"] : [])
    }
}

/// Words that users of other tools may type as commands. The error for such a word suggests a command of this tool.
enum ForeignWord {
    /// Returns this tool's command for the command name of another tool, or nil if the name is unknown.
    static func command(for word: String) -> CommandName? {
        switch word.lowercased() {
        case "list", "dir", "tree": .list
        case "add", "insert", "create", "new", "put", "store", "save", "write": .set
        case "read", "cat", "print", "reveal", "lookup": .get
        case "describe", "stat", "item": .show
        case "delete", "del", "remove", "erase", "forget": .remove
        case "search", "grep": .find
        case "rename": .move
        case "modify", "update", "change": .edit
        case "clip", "clipboard", "yank": .clipboard
        case "choose", "select", "menu": .pick
        case "gen", "pwgen", "password": .generate
        case "totp", "hotp", "code", "2fa": .otp
        case "exec", "with": .run
        case "fill", "render", "template": .inject
        case "audit": .log
        case "duplicate", "clone": .copy
        case "versions", "revisions": .history
        case "rollback", "revert": .undo
        case "open", "login", "signin": .unlock
        case "close", "logout", "signout": .lock
        case "check", "fsck": .verify
        case "status": .info
        case "repair", "recover": .salvage
        case "sync": .merge
        case "rekey", "reencrypt", "passwd": .keyRotate
        default: nil
        }
    }
}
