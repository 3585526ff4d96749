/// The names under which other programs start this one: git runs `git-credential-vault` for its helper `vault`.
///
/// Each is a symbolic link to `vault` in the same folder. `Tools/install` takes the names from this file and creates
/// the links; a package has to do the same.
enum HelperName: String, CaseIterable {
    case gitCredential = "git-credential-vault"
    case dockerCredential = "docker-credential-vault"
    case askpass = "vault-askpass"

    /// The command that the name stands for. The arguments of the command line follow it.
    var command: CommandName {
        switch self {
        case .gitCredential: .gitCredential
        case .dockerCredential: .dockerCredential
        case .askpass: .askpass
        }
    }

    /// Returns the words to insert before the arguments of a program that was started by this path; none for a name
    /// that is not in the table.
    static func words(forProgramAt path: String) -> [String] {
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
        guard let helper = HelperName(rawValue: String(name)) else { return [] }
        // A prompt may come from a server. It is never an option: a help text would be an answer.
        return [helper.command.rawValue] + (helper == .askpass ? ["--"] : [])
    }
}

/// The commands of other tools, as a hint for users who are accustomed to these.
enum ForeignWord {
    /// Returns the command that corresponds to a word of another tool; nil for an unknown word.
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
