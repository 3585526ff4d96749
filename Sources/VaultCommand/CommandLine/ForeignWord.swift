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
