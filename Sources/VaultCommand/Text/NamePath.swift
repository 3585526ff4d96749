// Slashes in names separate folders.

extension String {
    var hasSlashAtEnd: Bool { utf8.last == UInt8(ascii: "/") }

    /// The part after the last slash; for a folder, its own name with its slash.
    var lastPathComponent: String {
        let body = hasSlashAtEnd ? utf8.dropLast() : utf8[...]
        guard let slash = body.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[utf8.index(after: slash)...])
    }
}
