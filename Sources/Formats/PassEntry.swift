/// The text of a `pass` entry. The first line is the password. The other lines are `KEY: VALUE` lines, an `otpauth://`
/// address, and free text.
package enum PassEntry {
    /// - Parameter path: the entry's path in the store, without `.gpg`, such as `web/github`.
    package static func item(_ path: String, _ text: [UInt8]) throws(FormatError) -> ImportedItem {
        guard let text = String(validating: text, as: UTF8.self) else { throw FormatError("it is not UTF-8") }
        let parts = path.split(separator: "/")
        var item = ImportedItem(title: parts.last.map(String.init) ?? path)
        item.folder = parts.dropLast().joined(separator: "/")
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        item.password = lines.popFirst().map(String.init)
        var notes: [Substring] = []
        for line in lines where !take(line, &item) { notes.append(line) }
        // Blank lines before and after the notes only separate them from the other fields, so they are dropped.
        let start = notes.drop(while: \.isEmpty)
        item.notes = start.lastIndex { !$0.isEmpty }.map { start[...$0].joined(separator: "\n") }
        return item
    }

    /// Parses a line as a field. Returns false if it is not a field, and thus belongs to the notes.
    private static func take(_ line: Substring, _ item: inout ImportedItem) -> Bool {
        if line.hasPrefix("otpauth://") {
            guard item.otp == nil else { return false }
            item.otp = String(line)
            return true
        }
        guard let colon = line.firstRange(of: ": "), !line[..<colon.lowerBound].contains(" ") else { return false }
        let key = line[..<colon.lowerBound]
        let value = String(line[colon.upperBound...].drop { $0 == " " })
        let name = key.lowercased()
        if ["user", "username", "login", "email"].contains(name), item.username == nil {
            item.username = value
        } else if ["url", "website", "site"].contains(name) {
            item.urls.append(value)
        } else if ["otp", "totp"].contains(name), item.otp == nil {
            item.otp = value
        } else {
            // pass encrypts everything, so all values count as secret.
            item.add(String(key), value, isSecret: true)
        }
        return true
    }
}
