import LinuxSystem

/// The format of `~/.git-credentials`, in which `git credential-store` keeps passwords. Each line is a percent-encoded
/// URL, such as `https://mia:secret@github.com/org`.
package enum GitCredentialStore {
    package static func items(in text: [UInt8]) throws(FormatError) -> ImportedItems {
        var items: [ImportedItem] = []
        for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            items.append(try item(line, on: index + 1))
        }
        return ImportedItems(items)
    }

    private static func item(_ text: ArraySlice<UInt8>, on line: Int) throws(FormatError) -> ImportedItem {
        guard let separator = text.firstRange(of: Array("://".utf8)) else {
            throw FormatError(line: line, "it is not an address such as https://USER:PASSWORD@HOST")
        }
        let rest = text[separator.upperBound...]
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        guard let at = authority.firstIndex(of: UInt8(ascii: "@")),
            let colon = authority[..<at].firstIndex(of: UInt8(ascii: ":"))
        else { throw FormatError(line: line, "the address has no user or no password") }
        let read = { (part: ArraySlice<UInt8>) throws(FormatError) in try decoded(part, on: line) }
        let scheme = try read(text[..<separator.lowerBound])
        let host = try read(authority[(at + 1)...])
        let username = try read(authority[..<colon])
        let password = try read(authority[(colon + 1)..<at])
        let path = try read(rest[authority.endIndex...]).split(separator: "/").joined(separator: "/")
        guard !host.isEmpty else { throw FormatError(line: line, "the address has no host") }
        var item = ImportedItem(title: username, line: line)
        let location = scheme == "https" ? host : "\(scheme)://\(host)"
        item.folder = path.isEmpty ? "git/\(location)" : "git/\(location)/\(path)"
        item.username = username
        item.password = password
        item.add("protocol", scheme)
        item.add("host", host)
        item.add("path", path)
        return item
    }

    private static func decoded(_ part: ArraySlice<UInt8>, on line: Int) throws(FormatError) -> String {
        guard let text = PercentEncoding.text(part) else {
            throw FormatError(line: line, "the percent-encoding is malformed, or does not encode UTF-8")
        }
        // git's helper protocol cannot represent zero bytes, newlines or carriage returns.
        guard !text.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
            throw FormatError(line: line, "a part of the address has a line break or a zero byte")
        }
        return text
    }
}
