private import LinuxSystem

/// The conflicting copies left next to a vault by file synchronization or git: the main cause of rollback alarms.
package struct CopiesBeside: Hashable, Sendable {
    /// The paths of the copies to merge, sorted by name.
    package internal(set) var files: [String] = []
    /// The paths of the copies that file synchronization is still writing.
    package internal(set) var unfinished: [String] = []
    /// The git reference of an unfinished merge, rebase or cherry-pick, such as `MERGE_HEAD`; nil if there is none.
    package internal(set) var gitReference: String?
    /// Whether the vault file is in a git working tree, where a checkout can replace it.
    package internal(set) var isInRepository = false
    /// The vault's path as the caller passed it, and the folder and file name of its resolved path.
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

    /// Sentences that advise how to handle the conflicting copies before a rollback alarm is accepted.
    var advice: String {
        var sentences: [String] = []
        if !unfinished.isEmpty {
            sentences.append("\(unfinished.joined(separator: ", ")) may be incomplete. Let the synchronization finish.")
        }
        switch files.count {
        case 0: break
        case 1: sentences.append("File synchronization has left another copy next to it: \(files[0]). Merge that copy.")
        default:
            sentences.append(
                "File synchronization has left other copies next to it: \(files.joined(separator: ", ")). Merge them.")
        }
        if gitReference != nil {
            sentences.append("The vault's git repository has an unfinished merge. Merge the other branch's copy.")
        } else if isInRepository, files.isEmpty, unfinished.isEmpty {
            sentences.append("The vault is in a git repository, and git may have checked out another version of it.")
        }
        return sentences.joined(separator: " ")
    }
}
