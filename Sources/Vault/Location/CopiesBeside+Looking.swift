private import FoundationEssentials
private import LinuxSystem

extension CopiesBeside {
    /// Searches a vault file's folder for copies. A vault in a database has no such copies.
    package init(_ vault: String) {
        self.init(beside: vault)
        guard !VaultLocation.isURL(vault) else { return }
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

    /// Returns whether `other` is a name that Syncthing, Nextcloud or Dropbox gives to a copy of `name`: `a.vault`
    /// becomes `a.sync-conflict-20260101-120000-ABCDEFG.vault` or `a (mia's conflicted copy 2026-01-01).vault`.
    static func isConflict(_ other: String, of name: String) -> Bool {
        // Compares bytes: for Swift, a combining mark joins its predecessor, and equal strings may differ in bytes.
        let (other, name) = (Array(other.utf8), Array(name.utf8))
        let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 == 0 ? nil : $0 } ?? name.endIndex
        let (stem, ending) = (name[..<dot], name[dot...])
        guard other.count > name.count, other.starts(with: stem), other.suffix(ending.count) == ending else {
            return false
        }
        let middle = other[stem.count..<(other.count - ending.count)]
        return middle.starts(with: ".sync-conflict-".utf8)
            || middle.starts(with: " (".utf8) && middle.last == UInt8(ascii: ")")
                && middle.contains("conflicted copy".utf8)
    }

    static func isUnfinished(_ other: String, of name: String) -> Bool {
        let (bytes, ending) = (Array(other.utf8), ".tmp".utf8)
        guard let mark = [".syncthing.", "~syncthing~"].first(where: { bytes.starts(with: $0.utf8) }),
            bytes.count >= mark.utf8.count + ending.count, bytes.suffix(ending.count).elementsEqual(ending)
        else { return false }
        let copied = bytes[mark.utf8.count..<(bytes.count - ending.count)]
        return copied.elementsEqual(name.utf8) || isConflict(String(decoding: copied, as: UTF8.self), of: name)
    }

    private static func gitFolder(above folder: String) -> String? {
        var folder = folder
        while true {
            let git = folder == "/" ? "/.git" : "\(folder)/.git"
            if FileManager.default.fileExists(atPath: git) { return gitFolder(at: git, in: folder) }
            guard folder != "/" else { return nil }
            folder = folder.parentFolder
        }
    }

    /// Returns the path of git's folder. In a worktree, `.git` is a file that contains that folder's path.
    private static func gitFolder(at git: String, in folder: String) -> String {
        let prefix = "gitdir: "
        guard let text = try? String(contentsOfFile: git, encoding: .utf8), text.hasPrefix(prefix) else { return git }
        let target = String(text.dropFirst(prefix.count).prefix { !$0.isNewline })
        return target.hasPrefix("/") ? target : "\(folder)/\(target)"
    }
}
