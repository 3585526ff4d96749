import Formats
import FoundationEssentials
import Vault

enum ImportFormat: String, CaseIterable {
    case json, env
    case bitwardenCSV = "bitwarden-csv"
    case bitwardenJSON = "bitwarden-json"
    case onePasswordCSV = "1password-csv"
    case keePassXCCSV = "keepassxc-csv"
    case keePassXML = "keepass-xml"
    case chromeCSV = "chrome-csv"
    case firefoxCSV = "firefox-csv"
    case pass, libsecret, netrc
    case gitCredentials = "git-credentials"
    case docker, plist
}

/// The contents of an imported file, as they will be stored.
struct ImportContents {
    var plan: ImportPlan
    /// The number of another program's items that became one or more entries each; nil if each entry is one item.
    var items: Int?
    var leftOut: [LeftOut] = []
}

extension ImportFormat {
    /// Parses a file. The plaintext stays in ordinary memory until the values are sealed.
    ///
    /// - Throws: ``FormatError``; ``VaultError`` if guarded memory is exhausted.
    func read(_ bytes: [UInt8], from source: String, prefix: String) throws -> ImportContents {
        var plan = ImportPlan(prefix: prefix)
        switch self {
        case .json: try plan.addEntries(ofDocument: bytes)
        case .env: try plan.addVariables(of: bytes)
        case .plist: try plan.addValues(ofPlainFile: bytes, at: source)
        default: return try ImportContents(items(in: bytes), prefix: prefix)
        }
        return ImportContents(plan: plan)
    }

    private func items(in bytes: [UInt8]) throws(FormatError) -> ImportedItems {
        switch self {
        case .bitwardenCSV: try LoginTable.bitwarden.items(in: bytes)
        case .onePasswordCSV: try LoginTable.onePassword.items(in: bytes)
        case .keePassXCCSV: try LoginTable.keePassXC.items(in: bytes)
        case .chromeCSV: try LoginTable.chrome.items(in: bytes)
        case .firefoxCSV: try LoginTable.firefox.items(in: bytes)
        case .netrc: try Netrc.items(in: bytes)
        case .gitCredentials: try GitCredentialStore.items(in: bytes)
        case .docker: try DockerConfiguration.items(in: bytes)
        case .bitwardenJSON: try BitwardenJSON.items(in: bytes)
        case .keePassXML: try KeePassXML.items(in: bytes)
        // These formats have import methods of their own, so this case is never reached.
        case .json, .env, .plist, .pass, .libsecret: ImportedItems()
        }
    }
}

extension ImportContents {
    init(_ found: ImportedItems, prefix: String) throws {
        var plan = ImportPlan(prefix: prefix)
        for item in found.items { try plan.add(item) }
        self.init(plan: plan, items: found.items.count, leftOut: found.leftOut)
    }
}

extension ImportPlan {
    /// Adds the values of a preferences file. Each keeps its kind, such as integer or date.
    fileprivate mutating func addValues(ofPlainFile bytes: [UInt8], at source: String) throws {
        let values: [String: StoredValue]
        do throws(VaultError) { values = try PlainFile.values(in: bytes, from: source) } catch {
            // The error is replaced, because its code would say that the vault is damaged, not the imported file.
            throw CommandError.invalid("\(error.message) Nothing was imported.")
        }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            try add(PlannedEntry(prefix + key, SealableValue(value, for: prefix + key)))
        }
    }

    /// Adds the entries of a document written by `vault export json`.
    fileprivate mutating func addEntries(ofDocument bytes: [UInt8]) throws {
        let kinds = Keychain.ValueKind.allByName
        for entry in try EntryDocument.entries(in: bytes) {
            guard let kind = kinds[entry.kind] else { throw FormatError(line: entry.line, "the kind is unknown") }
            let expires = entry.expires.map(Timestamp.date)
            if case .some(nil) = expires { throw FormatError(line: entry.line, "the time in expires is malformed") }
            let value = SealableValue(kind: kind, bytes: try SecretBytes(copying: entry.value))
            try add(
                PlannedEntry(
                    prefix + entry.name, value, attributes: entry.attributes, expires: expires ?? nil, line: entry.line)
            )
        }
    }

    fileprivate mutating func addVariables(of bytes: [UInt8]) throws {
        for variable in try DotEnv.variables(in: bytes) {
            guard !variable.value.starts(with: VariableRequest.scheme) else {
                throw FormatError(
                    line: variable.line, "the variable refers to an entry of the vault, so it has no value to import")
            }
            let value = SealableValue(kind: .unspecified, bytes: try SecretBytes(copying: variable.value))
            try add(PlannedEntry(prefix + variable.name, value, line: variable.line))
        }
    }
}

extension Keychain.ValueKind {
    /// All kinds by name. They include kinds unknown to this version, since a later one may have written the document.
    fileprivate static var allByName: [String: Keychain.ValueKind] {
        let kinds = (0...UInt8.max).map { Keychain.ValueKind(rawValue: $0) }
        return Dictionary(kinds.map { ($0.description, $0) }) { first, _ in first }
    }
}
