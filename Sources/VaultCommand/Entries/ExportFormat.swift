import Formats
import SealedFormat
import Vault

enum ExportFormat: String, CaseIterable {
    case json, env, csv

    /// Combines the entries whose names begin with `prefix` into one document.
    ///
    /// - Parameter reading: reads the value of an entry.
    /// - Returns: the document, and the number of entries in it.
    /// - Throws: ``CommandError`` (refused) if an entry does not fit the format; the errors of ``Keychain/get(_:)``.
    func text(
        of keychain: Keychain, prefix: String, reading: (String) throws -> SealableValue?
    ) throws -> (text: ExportedText, entries: Int) {
        let entries = try keychain.exported(prefix: prefix, asTexts: self != .json, reading: reading)
        let text =
            switch self {
            case .json: try JSONDocument.text(of: entries)
            case .env: try EnvironmentFile.text(of: entries)
            case .csv: try LoginRows.text(of: entries)
            }
        return (ExportedText(bytes: text), entries.count)
    }
}

/// The text of an export, in guarded memory.
final class ExportedText {
    private let bytes: SecretBytes

    init(bytes: consuming SecretBytes) { self.bytes = bytes }

    func write(to path: String?) throws {
        try bytes.withUnsafeBytes { bytes in
            if let path { try NewFile.write(bytes, to: path) } else { try StandardOutput.write(bytes) }
        }
    }
}

private final class ExportedEntry {
    let item: Keychain.Item
    let kind: Keychain.ValueKind
    let bytes: SecretBytes

    /// - Parameter isText: whether to convert a date, an array or a dictionary to the text that `get` prints.
    init(_ item: Keychain.Item, _ value: consuming SealableValue, asText isText: Bool) throws {
        self.item = item
        kind = value.kind
        bytes = isText ? try ValueText.shown(value, of: item.name) : value.takeBytes()
    }

    var name: String { item.name }

    /// Whether the value is UTF-8 text without zero bytes, so that every program can read it.
    var isText: Bool { bytes.withUnsafeBytes { $0.isUTF8 && !$0.contains(0) } }
}

extension Keychain {
    /// Returns the entries whose names begin with `prefix`, sorted by name. Omits entries removed in the meantime.
    fileprivate func exported(
        prefix: String, asTexts: Bool, reading: (String) throws -> SealableValue?
    ) throws -> [ExportedEntry] {
        var listing = try listing(prefix: prefix)
        var entries = [ExportedEntry]()
        while let item = try listing.next() {
            guard let value = try reading(item.name) else { continue }
            entries.append(try ExportedEntry(item, value, asText: asTexts))
        }
        return entries
    }
}

extension CommandError {
    fileprivate static func cannotHold(_ names: [String], _ reason: String) -> CommandError {
        .refused("\(reason); nothing was written. Use `vault export json` for all entries.\(lines(names))")
    }
}

/// A JSON document with all properties of the entries, in the form that `vault import json` reads.
private enum JSONDocument {
    static func text(of entries: [ExportedEntry]) throws -> SecretBytes {
        var text = try SecretText()
        try text.append("{\"vault_export\":\(EntryDocument.version),\"entries\":[")
        for (index, entry) in entries.enumerated() {
            // Each entry is on a separate line, so that the line number in an import error identifies it.
            try text.append(index == 0 ? "\n" : ",\n")
            try append(entry, to: &text)
        }
        try text.append("\n]}\n")
        return text.finish()
    }

    private static func append(_ entry: ExportedEntry, to text: inout SecretText) throws {
        let item = entry.item
        try text.append("{\"name\":")
        try text.append(json: item.name)
        try text.append(",\"kind\":\"\(entry.kind)\",\"attributes\":{")
        for (index, (key, value)) in item.attributes.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { try text.append(",") }
            try text.append(json: key)
            try text.append(":")
            try text.append(json: value)
        }
        let expires = item.expires.map { "\"\(Timestamp.text($0))\"" } ?? "null"
        let created = Timestamp.text(item.created)
        let modified = Timestamp.text(item.modified)
        try text.append("},\"created\":\"\(created)\",\"modified\":\"\(modified)\",\"expires\":\(expires),")
        try entry.bytes.withUnsafeBytes { bytes in
            if bytes.isUTF8 {
                try text.append("\"value\":\"")
                try text.append(SecretBytes(composing: { put in Escaping.json(bytes, put) }))
            } else {
                try text.append("\"value_base64\":\"")
                try text.append(SecretBytes(base64Of: bytes))
            }
        }
        try text.append("\"}")
    }
}

/// An environment file in the form that `vault import env` and other readers of `.env` files accept.
private enum EnvironmentFile {
    static func text(of entries: [ExportedEntry]) throws -> SecretBytes {
        let others = entries.filter { !$0.isText }.map(\.name)
        guard others.isEmpty else {
            throw CommandError.cannotHold(others, "Variables can hold only text, but these values are not text")
        }
        let names = Dictionary(grouping: entries.map(\.name), by: DotEnv.variableName)
        let clashes = names.values.filter { $0.count > 1 }.flatMap(\.self).sorted()
        guard clashes.isEmpty else {
            throw CommandError.cannotHold(clashes, "These names would become the same variable")
        }
        var text = try SecretText()
        for entry in entries {
            try text.append(DotEnv.variableName(of: entry.name) + "=")
            try entry.bytes.withUnsafeBytes { bytes in
                try text.append(SecretBytes(composing: { put in DotEnv.write(bytes, put) }))
            }
            try text.append("\n")
        }
        return text.finish()
    }
}

/// A CSV table with one row per login. The row includes the login's fields `otp` and `notes`.
private enum LoginRows {
    private static let columns = ["name", "username", "password", "url", "notes", "otp"]

    static func text(of entries: [ExportedEntry]) throws -> SecretBytes {
        let others = entries.filter { !$0.isText }.map(\.name)
        guard others.isEmpty else {
            throw CommandError.cannotHold(others, "CSV can hold only text, but these values are not text")
        }
        let byName = Dictionary(entries.map { (EntryName($0.name), $0) }) { first, _ in first }
        var text = try SecretText()
        try text.append(columns.joined(separator: ",") + "\r\n")
        for entry in entries where !isField(entry, of: byName) {
            let attributes = entry.item.attributes
            try append(entry.name, to: &text)
            try text.append(",")
            try append(attributes[Login.AttributeKey.username] ?? "", to: &text)
            try text.append(",")
            try append(entry, to: &text)
            try text.append(",")
            try append(attributes[Login.AttributeKey.url] ?? "", to: &text)
            for field in [Login.Field.notes, .otp] {
                try text.append(",")
                if let entry = byName[EntryName(Login.name(of: field, in: entry.name))] { try append(entry, to: &text) }
            }
            try text.append("\r\n")
        }
        return text.finish()
    }

    /// Returns whether the entry is a login's field that the login's CSV row already includes.
    private static func isField(_ entry: ExportedEntry, of entries: [EntryName?: ExportedEntry]) -> Bool {
        guard let (login, field) = Login.split(entry.name) else { return false }
        return (field == Login.Field.notes.rawValue || field == Login.Field.otp.rawValue)
            && entries[EntryName(login)] != nil
    }

    private static func append(_ field: String, to text: inout SecretText) throws {
        var bytes: [UInt8] = []
        CSV.write(Array(field.utf8)) { bytes.append($0) }
        try text.append(bytes)
    }

    private static func append(_ entry: ExportedEntry, to text: inout SecretText) throws {
        try entry.bytes.withUnsafeBytes { bytes in
            try text.append(SecretBytes(composing: { put in CSV.write(bytes, put) }))
        }
    }
}
