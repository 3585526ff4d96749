import FoundationEssentials

/// The output of `secret-tool search --all`, which lists the items of a Secret Service, such as GNOME's keyring.
///
/// An item begins with its path in brackets. Its label, secret, times and attributes follow on separate lines. Nothing
/// is quoted, so the reader assumes that a secret extends up to the two lines with the times.
package enum SecretToolOutput {
    package static func items(in text: [UInt8]) throws(FormatError) -> ImportedItems {
        guard let text = String(validating: text, as: UTF8.self) else { throw FormatError("a secret is not UTF-8") }
        var reader = SecretToolReader(lines: text.split(separator: "\n", omittingEmptySubsequences: false)[...])
        return ImportedItems(try reader.readAll())
    }
}

private struct SecretToolReader {
    var lines: ArraySlice<Substring>

    mutating func readAll() throws(FormatError) -> [ImportedItem] {
        var items: [ImportedItem] = []
        while let line = lines.first {
            if line.hasPrefix("[/") { items.append(try readItem()) } else { lines = lines.dropFirst() }
        }
        return items
    }

    private mutating func readItem() throws(FormatError) -> ImportedItem {
        lines = lines.dropFirst()
        var item = ImportedItem(title: take("label = ") ?? "")
        guard let first = take("secret = ") else { throw FormatError("an item of secret-tool has no secret") }
        var secret = [first]
        while !isAtTimes {
            guard let line = lines.popFirst() else { throw FormatError("an item of secret-tool is truncated") }
            secret.append(String(line))
        }
        lines = lines.dropFirst(2)
        var attributes: [String: String] = [:]
        while let line = lines.first, !line.hasPrefix("[/") {
            lines = lines.dropFirst()
            guard let equals = line.firstRange(of: " = ") else { continue }
            let key = line[..<equals.lowerBound]
            guard key == "schema" || key.hasPrefix("attribute.") else { continue }
            attributes[String(key.replacing("attribute.", with: "", maxReplacements: 1))] =
                String(line[equals.upperBound...])
        }
        item.setSecret(secret, attributes)
        return item
    }

    private var isAtTimes: Bool {
        let next = lines.prefix(2)
        return next.first?.hasPrefix("created = ") == true && next.last?.hasPrefix("modified = ") == true
    }

    private mutating func take(_ start: String) -> String? {
        guard let line = lines.first, line.hasPrefix(start) else { return nil }
        lines = lines.dropFirst()
        return String(line.dropFirst(start.count))
    }
}

extension ImportedItem {
    fileprivate mutating func setSecret(_ lines: [String], _ attributes: [String: String]) {
        if attributes["schema"] == "org.git.Password" || attributes["xdg:schema"] == "org.git.Password" {
            setGitSecret(lines, attributes)
            return
        }
        folder = "keyring"
        password = lines.joined(separator: "\n")
        for (key, value) in attributes.sorted(by: { $0.key < $1.key }) { add(key, value) }
    }

    /// Parses a secret that git's credential helper stored. Later lines contain the expiry and the refresh token.
    private mutating func setGitSecret(_ lines: [String], _ attributes: [String: String]) {
        password = lines.first
        for line in lines.dropFirst() {
            let value = line.split(separator: "=", maxSplits: 1).last.map(String.init)
            if line.hasPrefix("password_expiry_utc=") {
                expires = value.flatMap(Double.init).map(Date.init(timeIntervalSince1970:))
            } else if line.hasPrefix("oauth_refresh_token=") {
                add("refresh-token", value, isSecret: true)
            }
        }
        let port = attributes["port"].flatMap { $0 == "0" ? nil : ":\($0)" } ?? ""
        let host = (attributes["server"] ?? "") + port
        let scheme = attributes["protocol"] ?? "https"
        username = attributes["user"]
        title = username ?? title
        folder = "git/" + (scheme == "https" ? host : "\(scheme)://\(host)")
        add("protocol", scheme)
        add("host", host)
        guard let path = attributes["object"], !path.isEmpty else { return }
        folder += "/\(path)"
        add("path", path)
    }
}
