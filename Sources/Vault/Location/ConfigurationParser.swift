import LinuxSystem

struct ConfigurationParser {
    private enum Key: String, CaseIterable {
        case vault
        case keyFile = "key-file"
        case keyCommand = "key-command"
        case identity
        case offline
        case keptIn = "kept-in"

        var isPath: Bool { ![.keyCommand, .offline, .keptIn].contains(self) }
        /// The only value that is allowed for this key; nil if any value is allowed.
        var word: String? { [.offline: "allow", .keptIn: "git"][self] }
    }

    private struct Draft {
        let name: String
        let line: Int
        var values: [Key: (text: String, line: Int)] = [:]
    }

    let path: String
    let home: String?
    private var line = 0
    private var draft: Draft?
    private var sections: [VaultConfiguration.Section] = []
    private var lines: [String: Int] = [:]

    init(path: String, home: String?) { (self.path, self.home) = (path, home) }

    mutating func read(_ bytes: ArraySlice<UInt8>) throws(VaultError) {
        line += 1
        let bytes = bytes.trimming(while: \.isWhiteSpace)
        guard let first = bytes.first, first != UInt8(ascii: "#") else { return }
        // Control characters are refused: C functions end a path at a zero byte, and terminals interpret escape codes.
        guard !bytes.contains(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F }) else {
            throw fault("a control character. Remove it.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw fault("not UTF-8. Save the file as UTF-8.")
        }
        if first == UInt8(ascii: "[") { return try begin(text) }
        guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")) else {
            throw fault("neither a section, a key with its value, nor a comment. Write [NAME], KEY = VALUE or # TEXT.")
        }
        let key = String(decoding: bytes[..<sign].trimming(while: \.isWhiteSpace), as: UTF8.self)
        try set(key, to: String(decoding: bytes[(sign + 1)...].trimming(while: \.isWhiteSpace), as: UTF8.self))
    }

    mutating func finish() throws(VaultError) -> [VaultConfiguration.Section] {
        try endSection()
        return sections
    }

    private func fault(_ what: String, on line: Int? = nil) -> VaultError {
        VaultError(.invalid, "\(path), line \(line ?? self.line): \(what)")
    }
}

extension ConfigurationParser {
    private mutating func begin(_ text: String) throws(VaultError) {
        try endSection()
        // The brackets are removed as bytes: as a character, a bracket includes any combining mark that follows it.
        let name = Substring(text.utf8.dropFirst().dropLast())
        guard text.utf8.last == UInt8(ascii: "]"), VaultConfiguration.isName(name) else {
            throw fault("not a section. Write [NAME], with 1 to 64 letters, digits, \".\", \"_\" and \"-\".")
        }
        if let former = lines.updateValue(line, forKey: String(name)) {
            throw fault("the second section [\(name)]; the first is on line \(former). Rename one, or merge them.")
        }
        draft = Draft(name: String(name), line: line)
    }

    private mutating func endSection() throws(VaultError) {
        guard let draft else { return }
        guard let vault = draft.values[.vault] else {
            throw fault("the section [\(draft.name)] names no vault. Write below it: vault = PATH.", on: draft.line)
        }
        sections.append(
            .init(
                name: draft.name, vault: vault.text, keyFile: draft.values[.keyFile]?.text,
                keyCommand: draft.values[.keyCommand]?.text, identity: draft.values[.identity]?.text,
                allowsOffline: draft.values[.offline] != nil, isInGit: draft.values[.keptIn] != nil))
        self.draft = nil
    }

    private mutating func set(_ word: String, to text: String) throws(VaultError) {
        guard let key = Key(rawValue: word) else {
            let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
            throw fault("an unknown key. The keys are: \(known).")
        }
        guard let section = draft else {
            throw fault("\(word) is before the first section. Write a line such as [default] above it.")
        }
        if let former = section.values[key] {
            throw fault("\(word) is repeated in [\(section.name)]; the first is on line \(former.line). Remove one.")
        }
        let value = try unquoted(text)
        guard !value.isEmpty else { throw fault("\(word) has no value. Write one, or remove the line.") }
        if let word = key.word, value != word {
            throw fault("an unknown value for \(key.rawValue). Write \(key.rawValue) = \(word), or remove the line.")
        }
        let isPath = key.isPath && !(key == .vault && VaultLocation.isURL(value))
        let entry = (text: isPath ? try expanded(value) : value, line: line)
        draft?.values[key] = entry
    }

    private func unquoted(_ text: String) throws(VaultError) -> String {
        guard text.utf8.first == UInt8(ascii: "\"") else { return text }
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        var result: [UInt8] = []
        var rest = text.utf8.dropFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case quote:
                guard rest.isEmpty else {
                    throw fault(#"text after the closing quote. Quote the whole value, with \" for a quote in it."#)
                }
                return String(decoding: result, as: UTF8.self)
            case backslash:
                guard let escaped = rest.popFirst(), escaped == quote || escaped == backslash else {
                    throw fault(#"an unknown escape. In quotes, write \\ for a backslash and \" for a quote."#)
                }
                result.append(escaped)
            default: result.append(byte)
            }
        }
        throw fault("no closing quote. Write one at the end of the line.")
    }

    private func expanded(_ value: String) throws(VaultError) -> String {
        let bytes = value.utf8
        if bytes.first == UInt8(ascii: "/") { return value }
        guard bytes.first == UInt8(ascii: "~") else { return below(path.parentFolder, value) }
        guard bytes.dropFirst().first == UInt8(ascii: "/") else {
            throw fault("only ~/ stands for a home folder. Write the whole path, or ./~ for a folder of that name.")
        }
        guard let home else { throw fault("HOME is not set, so ~/ is unknown. Write the whole path.") }
        return below(home, String(Substring(bytes.dropFirst(2))))
    }

    private func below(_ folder: String, _ name: String) -> String { "\(folder == "/" ? "" : folder)/\(name)" }
}
