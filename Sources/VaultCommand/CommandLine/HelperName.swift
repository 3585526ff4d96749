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
