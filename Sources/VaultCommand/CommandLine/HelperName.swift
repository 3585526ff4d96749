/// The names under which other programs start `vault`. For example, git runs `git-credential-vault`.
///
/// Each name is a symbolic link to `vault` in the same folder. `Tools/install` reads the names from this file and
/// creates the links; a package must do the same.
enum HelperName: String, CaseIterable {
    case gitCredential = "git-credential-vault"
    case dockerCredential = "docker-credential-vault"
    case askpass = "vault-askpass"

    /// The command that `vault` runs if it is started under this name. It receives the process's arguments.
    var command: CommandName {
        switch self {
        case .gitCredential: .gitCredential
        case .dockerCredential: .dockerCredential
        case .askpass: .askpass
        }
    }

    /// Returns the words to insert before this process's arguments, given the path by which the process was started.
    /// Returns no words if the last component of the path is not a helper name.
    static func words(forProgramAt path: String) -> [String] {
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
        guard let helper = HelperName(rawValue: String(name)) else { return [] }
        // An ssh server could send the prompt --help. Without `--`, the help text would become the answer.
        return [helper.command.rawValue] + (helper == .askpass ? ["--"] : [])
    }
}

/// The commands of other tools that users may type. The error for such a command suggests this tool's equivalent.
enum ForeignWord {
    /// Returns this tool's equivalent of another tool's command, or nil if there is none.
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
