private import LinuxSystem

/// Copies that a file synchronization or git leaves in a vault's folder, the most common cause of a rollback alarm.
package struct CopiesBeside: Hashable, Sendable {
    /// The paths of the copies to merge, sorted by name.
    package internal(set) var files: [String] = []
    /// The paths of files that are still being written.
    package internal(set) var unfinished: [String] = []
    /// The git reference of the other side in an unfinished merge, such as `MERGE_HEAD`.
    package internal(set) var gitReference: String?
    /// Whether the vault is in a git working tree. A checkout replaces its file.
    package internal(set) var isInRepository = false
    /// The vault's path, as the caller passed it, and its folder and name.
    package let (vault, folder, name): (String, String, String)

    package var isEmpty: Bool { files.isEmpty && unfinished.isEmpty && !isInRepository }

    init(beside vault: String) {
        let path = resolvedPath(vault)
        self.vault = vault
        folder = path.parentFolder
        name = path.lastPathComponent
    }

    package func without(_ paths: [String]) -> CopiesBeside {
        var rest = self
        let tried = Set(paths.map(resolvedPath))
        rest.files.removeAll { tried.contains(resolvedPath($0)) }
        return rest
    }
}

extension CopiesBeside {
    /// Steps to take before a rollback alarm is accepted, as whole sentences.
    var advice: String {
        var sentences: [String] = []
        if !unfinished.isEmpty {
            sentences.append("\(unfinished.joined(separator: ", ")) may be incomplete. Wait until it is complete.")
        }
        switch files.count {
        case 0: break
        case 1: sentences.append("A file synchronization has left another copy beside it: \(files[0]). Merge it.")
        default:
            sentences.append(
                "A file synchronization has left other copies beside it: \(files.joined(separator: ", ")). Merge them.")
        }
        if gitReference != nil {
            sentences.append("git has an unfinished merge there. Merge the other side's copy.")
        } else if isInRepository, files.isEmpty, unfinished.isEmpty {
            sentences.append("It is in a git repository, which may have checked out another version of it.")
        }
        return sentences.joined(separator: " ")
    }
}
