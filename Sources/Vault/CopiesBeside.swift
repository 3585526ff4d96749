private import LinuxSystem

/// Copies that other programs leave beside a vault that was changed on two machines: the usual cause of an alarm.
package struct CopiesBeside: Hashable, Sendable {
    /// The paths of copies that are to be merged, in the order of their names.
    package internal(set) var files: [String] = []
    /// The paths of files that are still being written.
    package internal(set) var unfinished: [String] = []
    /// git's name for the other side of an unfinished merge.
    package internal(set) var gitReference: String?
    /// Whether the vault is in a folder of git, which exchanges files.
    package internal(set) var isInRepository = false
    /// The vault's path, as it was given, and its folder and name.
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
    /// The steps to take before an alarm is accepted, in sentences.
    var advice: String {
        var sentences: [String] = []
        if !unfinished.isEmpty {
            sentences.append("\(unfinished.joined(separator: ", ")) may still be under way: wait until it is complete.")
        }
        switch files.count {
        case 0: break
        case 1: sentences.append("A file synchronization has left another copy beside it, \(files[0]): merge that.")
        default:
            sentences.append(
                "A file synchronization has left other copies beside it: \(files.joined(separator: ", ")). Merge them.")
        }
        if gitReference != nil {
            sentences.append("git has not finished a merge there: merge the other side's copy.")
        } else if isInRepository, files.isEmpty, unfinished.isEmpty {
            sentences.append("It is in a git repository, which may have checked out another version of it.")
        }
        return sentences.joined(separator: " ")
    }
}
