import FoundationEssentials

/// The CSV exports of password managers and browsers: a header row with the columns' names, then one login per row.
package enum LoginTable: String, CaseIterable, Sendable {
    case bitwarden = "Bitwarden"
    case onePassword = "1Password"
    case keePassXC = "KeePassXC"
    case chrome = "Chrome"
    case firefox = "Firefox"

    private enum Column { case folder, title, username, password, url, notes, otp, fields, tags, ignored }

    /// The columns by lower-case name. 1Password has renamed `Website` to `Url`, and `One-time password` to `OTPAuth`.
    private var columns: [String: Column] {
        switch self {
        case .bitwarden:
            [
                "folder": .folder, "collections": .folder, "favorite": .ignored, "type": .ignored, "name": .title,
                "notes": .notes, "fields": .fields, "reprompt": .ignored, "login_uri": .url,
                "login_username": .username, "login_password": .password, "login_totp": .otp,
            ]
        case .onePassword:
            [
                "title": .title, "url": .url, "website": .url, "username": .username, "password": .password,
                "otpauth": .otp, "one-time password": .otp, "favorite": .ignored, "favorite status": .ignored,
                "archived": .ignored, "archived status": .ignored, "tags": .tags, "notes": .notes,
            ]
        case .keePassXC:
            [
                "group": .folder, "title": .title, "username": .username, "password": .password, "url": .url,
                "notes": .notes, "totp": .otp, "icon": .ignored, "last modified": .ignored, "created": .ignored,
            ]
        case .chrome: ["name": .title, "url": .url, "username": .username, "password": .password, "note": .notes]
        case .firefox:
            [
                "url": .url, "username": .username, "password": .password, "httprealm": .ignored,
                "formactionorigin": .ignored, "guid": .ignored, "timecreated": .ignored, "timelastused": .ignored,
                "timepasswordchanged": .ignored,
            ]
        }
    }

    /// The columns that the program's header row always has.
    private var required: [String] {
        switch self {
        case .bitwarden: ["name", "login_uri", "login_username", "login_password"]
        case .onePassword: ["title", "username", "password"]
        case .keePassXC: ["group", "title", "username", "password"]
        case .chrome: ["name", "url", "username", "password"]
        case .firefox: ["url", "username", "password"]
        }
    }

    package func items(in text: [UInt8]) throws(FormatError) -> ImportedItems {
        let records = try CSV.records(in: text)
        let header = records.first?.fields ?? []
        let names = header.map { $0.lowercased() }
        guard let missing = required.first(where: { !names.contains($0) }) else {
            var items: [ImportedItem] = []
            for record in records.dropFirst() {
                guard record.fields.count == header.count else {
                    throw FormatError(
                        line: record.line,
                        "the row has \(record.fields.count) fields, but the first row has \(header.count)")
                }
                items.append(item(record, header))
            }
            return ImportedItems(items)
        }
        throw FormatError(line: 1, "it is not the first row of a \(rawValue) export: the column \(missing) is missing")
    }

    private func item(_ record: CSV.Record, _ header: [String]) -> ImportedItem {
        var item = ImportedItem(title: "", line: record.line)
        let columns = columns
        for (name, value) in zip(header, record.fields) where !value.isEmpty {
            switch columns[name.lowercased()] {
            case .folder: item.folder = folder(value)
            case .title: item.title = value
            case .username: item.username = value
            case .password: item.password = value
            case .url: item.urls = urls(value)
            case .notes: item.notes = value
            case .otp: item.otp = value
            case .fields: for field in Self.fields(value) { item.add(field.name, field.value, isSecret: true) }
            case .tags: item.add("tags", value)
            case .ignored: break
            // The values of an unknown column are treated as secret, because they may be.
            case nil: item.add(name, value, isSecret: true)
            }
        }
        if item.title.isEmpty, let url = item.urls.first { item.title = URL(string: url)?.host() ?? url }
        return item
    }

    /// Returns the item's folder. KeePassXC puts all groups in a root group, whose name is dropped.
    private func folder(_ text: String) -> String {
        guard self == .keePassXC else { return text }
        return text.split(separator: "/").dropFirst().joined(separator: "/")
    }

    /// Returns the item's addresses. Bitwarden separates them with commas, though an address may contain commas too.
    private func urls(_ text: String) -> [String] {
        guard self == .bitwarden else { return [text] }
        return text.split(separator: ",").reduce(into: []) { urls, part in
            if urls.isEmpty || part.contains("://") || part.contains(".") && !part.contains("/") {
                urls.append(String(part))
            } else {
                urls[urls.count - 1] += "," + part
            }
        }
    }

    /// Parses Bitwarden's user-defined fields, one `NAME: VALUE` per line. A line without a colon continues a value.
    private static func fields(_ text: String) -> [(name: String, value: String)] {
        text.split(separator: "\n", omittingEmptySubsequences: false).reduce(into: []) { fields, line in
            if let colon = line.firstRange(of: ": ") {
                fields.append((String(line[..<colon.lowerBound]), String(line[colon.upperBound...])))
            } else if fields.isEmpty {
                fields.append(("field", String(line)))
            } else {
                fields[fields.count - 1].value += "\n" + line
            }
        }
    }
}
