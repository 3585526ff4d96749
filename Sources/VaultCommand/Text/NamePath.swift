// The slashes in names are those of folders.

extension String {
    var hasSlashAtEnd: Bool { utf8.last == UInt8(ascii: "/") }

    /// What is behind the last slash; for a folder, its own name with its slash.
    var lastPathComponent: String {
        let body = hasSlashAtEnd ? utf8.dropLast() : utf8[...]
        guard let slash = body.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[utf8.index(after: slash)...])
    }
}
