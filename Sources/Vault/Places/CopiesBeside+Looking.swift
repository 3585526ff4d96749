private import FoundationEssentials
private import LinuxSystem

extension CopiesBeside {
    /// Looks into the folder of a vault file. There is nothing beside a vault in a database.
    package init(_ vault: String) {
        self.init(beside: vault)
        guard !VaultPlaces.isURL(vault) else { return }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for other in names.sorted() where other != name {
            if Self.isConflict(other, of: name) { files.append("\(folder)/\(other)") }
            if Self.isUnfinished(other, of: name) { unfinished.append("\(folder)/\(other)") }
        }
        guard let git = Self.gitFolder(above: folder) else { return }
        isInRepository = true
        gitReference = ["MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD"].first {
            FileManager.default.fileExists(atPath: "\(git)/\($0)")
        }
    }

    /// Whether a name is the one that Syncthing, Nextcloud or Dropbox gives to a copy of a file: `a.vault` becomes
    /// `a.sync-conflict-20260101-120000-ABCDEFG.vault` or `a (mia's conflicted copy 2026-01-01).vault`.
    static func isConflict(_ other: String, of name: String) -> Bool {
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        let (stem, ending) = (name[..<dot], name[dot...])
        guard other.utf8.count > name.utf8.count, other.hasPrefix(stem), other.hasSuffix(ending) else { return false }
        let middle = other.dropFirst(stem.count).dropLast(ending.count)
        return middle.hasPrefix(".sync-conflict-")
            || middle.hasPrefix(" (") && middle.hasSuffix(")") && middle.contains("conflicted copy")
    }

    /// Whether Syncthing is writing a file under that name.
    static func isUnfinished(_ other: String, of name: String) -> Bool {
        guard other.hasSuffix(".tmp") else { return false }
        let copied = [".syncthing.", "~syncthing~"].first(where: other.hasPrefix).map {
            String(other.dropFirst($0.count).dropLast(".tmp".count))
        }
        return copied.map { $0 == name || isConflict($0, of: name) } ?? false
    }

    /// Finds git's folder of the repository that a folder is in.
    private static func gitFolder(above folder: String) -> String? {
        var folder = folder
        while true {
            let git = folder == "/" ? "/.git" : "\(folder)/.git"
            if FileManager.default.fileExists(atPath: git) { return gitFolder(at: git, in: folder) }
            guard folder != "/" else { return nil }
            folder = folder.parentFolder
        }
    }

    /// Follows the file that a worktree has in place of git's folder.
    private static func gitFolder(at git: String, in folder: String) -> String {
        let prefix = "gitdir: "
        guard let text = try? String(contentsOfFile: git, encoding: .utf8), text.hasPrefix(prefix) else { return git }
        let target = String(text.dropFirst(prefix.count).prefix { !$0.isNewline })
        return target.hasPrefix("/") ? target : "\(folder)/\(target)"
    }
}
