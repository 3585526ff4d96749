import FoundationEssentials
package import LinuxSystem
import PropertyList

/// Brings the values that an older program kept in a plain file, a property list or JSON, into the stores, once: secrets into the
/// keychain, the rest into the preferences, and the plain file goes.
///
/// ```swift
/// let report = try PlainFileImport(path: "/home/ada/.config/app/tokens.json").run { key in
///     key == "theme" ? .preferences : .keychain
/// }
/// ```
///
/// The plain file is removed last, when everything lies in the stores durably. So a crash at any point loses nothing, and
/// running the import again finishes it. The file's blocks may stay on the disk for a while, and in backups: tokens that
/// must not be found there should be renewed.
public struct PlainFileImport: Sendable {
    /// Where a value goes.
    public enum Destination: Sendable, Hashable {
        /// The keychain: a secret.
        case keychain
        /// The preferences, as a plain value.
        case preferences
        /// Nowhere: it goes with the plain file.
        case dropped
    }

    /// What to do if a store has another value for a key already.
    public enum Conflict: Sendable, Hashable {
        /// Nothing at all is imported: an error with ``VaultError/Code/exists``.
        case refuse
        /// The store's value stays; the file's goes with the file.
        case keepStored
        /// The file's value takes the place of the store's.
        case replaceStored
    }

    /// What was imported: the names of keys.
    public struct Report: Sendable, Hashable {
        /// Keys whose values are in the keychain now.
        public internal(set) var keychain: [String] = []
        /// Keys whose values are in the preferences now.
        public internal(set) var preferences: [String] = []
        /// Keys whose values went with the file.
        public internal(set) var dropped: [String] = []
        /// False if there was no file: the import was done before, or there is nothing to do.
        public internal(set) var foundFile = true
    }

    /// The file: its root is a dictionary.
    public let path: String
    /// What to do if a store has another value for a key already.
    public var conflict: Conflict
    let fileSystem: any FileSystem

    /// - Parameter path: a property list, XML or binary, or JSON; told apart by content.
    public init(path: String, conflict: Conflict = .refuse) {
        self.init(path: path, conflict: conflict, in: PosixFileSystem())
    }

    package init(path: String, conflict: Conflict = .refuse, in fileSystem: any FileSystem) {
        self.path = path
        self.conflict = conflict
        self.fileSystem = fileSystem
    }

    /// Imports the file.
    ///
    /// - Parameters:
    ///   - keychain: in place of ``Keychain/standard``.
    ///   - preferences: in place of ``Preferences/standard``.
    ///   - destination: where the value of a key of the file goes. Keys are used as they are.
    /// - Returns: what went where.
    /// - Throws: ``VaultError`` with `damaged` as ``PlainFile/init(path:)``, `exists` as ``Conflict`` says, `invalid` for what a store cannot
    ///   hold, and what the stores throw. The file stays then, and running the import again is safe.
    @discardableResult
    public func run(
        keychain: (any ValueStore)? = nil, preferences: (any ValueStore)? = nil,
        _ destination: (_ key: String) -> Destination
    ) throws(VaultError) -> Report {
        var report = Report()
        guard let file = try PlainFile(path: path, in: fileSystem) else {
            report.foundFile = false
            return report
        }
        var secrets: [String: StoredValue] = [:]
        var settings: [String: StoredValue] = [:]
        for (key, value) in file.values {
            switch destination(key) {
            case .keychain: secrets[key] = value
            case .preferences: settings[key] = value
            case .dropped: report.dropped.append(key)
            }
        }
        // Both are looked at before either is changed: a refusal leaves everything as it is.
        let secretImport = try prepared(secrets, for: keychain, else: .keychain)
        let settingImport = try prepared(settings, for: preferences, else: .preferences)
        try secretImport?.commit()
        try settingImport?.commit()
        try file.remove()
        report.keychain = Array(secrets.keys).sortedByBytes()
        report.preferences = Array(settings.keys).sortedByBytes()
        report.dropped = report.dropped.sortedByBytes()
        return report
    }

    private func prepared(
        _ values: [String: StoredValue], for given: (any ValueStore)?, else standard: StoreReference
    ) throws(VaultError) -> PreparedImport? {
        guard !values.isEmpty else { return nil }
        let store = if let given { given } else { try standard.resolve() }
        var batch = StoreBatch([:])
        for (key, value) in values {
            try Keychain.checkName(key)
            let present = try store.value(of: key)
            batch.expectations.updateValue(present, forKey: key)
            guard present != value else { continue }
            guard present == nil || conflict != .refuse else {
                throw VaultError(
                    .exists, "\"\(key)\" has another value already than the one in \(path); nothing was imported.")
            }
            if present == nil || conflict == .replaceStored { batch.changes.updateValue(value, forKey: key) }
        }
        return PreparedImport(store: store, batch: batch)
    }
}

/// What an import is about to store in one store.
private struct PreparedImport {
    let store: any ValueStore
    let batch: StoreBatch

    /// Stores it durably, also what was there already: an import that was killed may have left it unflushed.
    func commit() throws(VaultError) {
        if !batch.changes.isEmpty, try !store.commit(batch) {
            throw VaultError(.busy, "Others changed the same keys meanwhile; run the import again.")
        }
        try store.makeDurable()
    }
}
