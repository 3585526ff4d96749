private import Glibc
import LinuxSystem

/// The shell commands that replace a vault with another copy and keep the old vault under another name.
struct VaultExchange {
    let moves: String
    /// The path to which the old vault is moved.
    let former: String

    init(of vault: String, for copy: String) {
        // The path may be a symbolic link, for example into a synchronized folder. The commands replace its target.
        let resolved = resolvedPath(vault)
        former = VaultExchange.freePath(resolved)
        let words = [resolved, former, copy].map { AdvisedCommand.path($0) }
        // `ln` gives the old vault its new name, and fails if that exists. `mv` would replace or silently skip it.
        moves = "ln -T \(words[0]) \(words[1]) && mv -T -f \(words[2]) \(words[0])"
    }

    /// Returns a path for the old vault at which nothing exists, not even a dangling symbolic link.
    private static func freePath(_ resolved: String) -> String {
        let paths = (1...99).lazy.map { "\(resolved).before\($0 == 1 ? "" : "-\($0)")" }
        return paths.first { path in
            var found = stat()
            return lstat(path, &found) != 0 && errno == ENOENT
        } ?? "\(resolved).before"
    }
}
