import FoundationEssentials
package import LinuxSystem
import PropertyList

/// The plain file of an older program, for code that stores its values itself. If each key moves to one store as it is,
/// ``PlainFileImport`` does it all.
///
/// ```swift
/// guard let file = try PlainFile(path: path) else { return }
/// // … store file.values …
/// try store.makeDurable()
/// try file.remove()
/// ```
public struct PlainFile: ~Copyable {
    /// The fields of the dictionary at the file's root, without those that are `null` in JSON.
    public let values: [String: StoredValue]
    private let bytes: [UInt8]
    private let file: WholeFile

    /// Reads a property list, XML or binary, or JSON; the content tells which. nil if there is no file.
    ///
    /// - Parameter path: a file of at most 64 MiB; a symbolic link is followed.
    /// - Throws: ``VaultError`` with `damaged` if the file has none of these formats, or no dictionary at its root, or,
    ///   in JSON, a key twice, an integer beyond 64 bits or more than 128 levels; `unavailable`.
    public init?(path: String) throws(VaultError) { try self.init(path: path, in: PosixFileSystem()) }

    package init?(path: String, in fileSystem: any FileSystem) throws(VaultError) {
        // Without symbolic links: removing one would leave its target.
        let path = resolvedPath(path)
        let file = WholeFile(path, in: fileSystem)
        guard let bytes = try PlainFile.contents(of: file) else { return nil }
        do { values = try PlainFile.values(in: bytes) } catch let error as PropertyListError {
            throw VaultError(
                .damaged, "\(path) is neither a property list nor JSON that can be read: \(error.sentence).")
        } catch let finding as JSONSurvey.Finding {
            throw VaultError(.damaged, "Cannot import \(path): \(finding.text).")
        } catch {
            // A decoding error may quote a value.
            throw VaultError(.damaged, "\(path) is neither a property list nor JSON with an object at its root.")
        }
        self.bytes = bytes
        self.file = file
    }

    /// Removes the file durably, unless it was changed since it was read. A file that is already removed is no error.
    ///
    /// The file is compared right before the removal; if another file replaces it between the two, that one is removed
    /// instead. So the older program should not run meanwhile. For what stays on the disk see <doc:MovingValues>.
    ///
    /// - Throws: ``VaultError`` with `busy` if the file's content is no longer what was read; `unavailable`.
    public borrowing func remove() throws(VaultError) {
        if let present = try PlainFile.contents(of: file), present != bytes {
            throw VaultError(.busy, "Someone changed \(file.path) meanwhile; run the import again.")
        }
        // Moving it aside first would save another file, but a crash would then leave secrets under an unknown name.
        do { try file.remove() } catch { throw VaultError(system: error, file.path) }
    }

    private static func contents(of file: WholeFile) throws(VaultError) -> [UInt8]? {
        let limit = PreferencesFile.sizeLimit
        do { return try file.read(upTo: limit)?.bytes } catch {
            if let kind = error.kindOfNoFile {
                throw VaultError(.unavailable, "Cannot import \(file.path): it is \(kind), not a file.")
            }
            guard error.isTooLarge else { throw VaultError(system: error, file.path) }
            throw VaultError(.damaged, "Cannot import \(file.path): it is larger than \(limit >> 20) MiB.")
        }
    }

    private static func values(in bytes: [UInt8]) throws -> [String: StoredValue] {
        let isJSON = bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
        guard isJSON else {
            return try PropertyListFormat.parseDictionary(bytes).values.mapValues(StoredValue.init(propertyList:))
        }
        try JSONSurvey.check(bytes)
        let values = try JSONDecoder().decode([String: JSONValue].self, from: Data(bytes)).mapValues(\.stored)
        return values.filter { $0.value != .null }
    }
}

/// Moves the values that an older program kept in a plain file, a property list or JSON, into the stores, once: secrets
/// into the keychain, the rest into the preferences. Then removes the file: see <doc:MovingValues>.
public struct PlainFileImport: Sendable {
    /// Where to store a value.
    public enum Destination: Sendable, Hashable {
        /// The keychain: a secret.
        case keychain
        /// The preferences, as a plain value.
        case preferences
        /// Nowhere: it is removed with the file.
        case dropped
    }

    /// What to do if a store already has another value for a key.
    public enum Conflict: Sendable, Hashable {
        /// Nothing at all is imported: an error with ``VaultError/Code/exists``.
        case refuse
        /// The store's value stays; the file's is removed with the file.
        case keepStored
        /// The file's value replaces the store's.
        case replaceStored
    }

    /// What was imported: the names of keys.
    public struct Report: Sendable, Hashable {
        /// Keys whose values are in the keychain now.
        public internal(set) var keychain: [String] = []
        /// Keys whose values are in the preferences now.
        public internal(set) var preferences: [String] = []
        /// Keys whose values were removed with the file.
        public internal(set) var dropped: [String] = []
        /// False if there was no file: it was imported before, or there is nothing to do.
        public internal(set) var foundFile = true
    }

    /// The path of the file. Its root is a dictionary.
    public let path: String
    /// What to do if a store already has another value for a key.
    public var conflict: Conflict
    let fileSystem: any FileSystem

    /// - Parameter path: a file as for ``PlainFile/init(path:)``.
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
    ///   - keychain: the store of the secrets.
    ///   - preferences: the store of the rest.
    ///   - destination: where to store the value of a key of the file. Keys are used as they are.
    /// - Throws: ``VaultError`` with `damaged` as ``PlainFile/init(path:)``, `exists` as ``Conflict`` says, `invalid`
    ///   for what a store cannot hold, and what the stores throw. The file then stays; the import can be run again.
    @discardableResult
    public func run(
        keychain: StoreReference = .keychain, preferences: StoreReference = .preferences,
        _ destination: (_ key: String) -> Destination
    ) throws(VaultError) -> Report {
        guard let file = try PlainFile(path: path, in: fileSystem) else { return Report(foundFile: false) }
        let values = Dictionary(grouping: file.values) { destination($0.key) }
        // Both are checked before either is changed: a refusal leaves everything as it is.
        let imports = [
            try prepared(values[.keychain], for: keychain),
            try prepared(values[.preferences], for: preferences),
        ]
        for (store, batch) in imports.compactMap(\.self) {
            if !batch.changes.isEmpty, try !store.commit(batch) {
                throw VaultError(.busy, "Others changed the same keys meanwhile; run the import again.")
            }
            // Also what was there already: an import that was killed may have left it unflushed.
            try store.makeDurable()
        }
        try file.remove()
        let names = values.mapValues { $0.map(\.key).sortedByBytes() }
        return Report(
            keychain: names[.keychain] ?? [], preferences: names[.preferences] ?? [], dropped: names[.dropped] ?? [])
    }

    private func prepared(
        _ values: [(key: String, value: StoredValue)]?, for reference: StoreReference
    ) throws(VaultError) -> (any ValueStore, StoreBatch)? {
        guard let values else { return nil }
        let store = try reference.resolve()
        var batch = StoreBatch([:])
        for (key, value) in values {
            try Naming.key.check(key)
            let present = try store.value(of: key)
            batch.expectations.updateValue(present, forKey: key)
            guard present != value else { continue }
            guard present == nil || conflict != .refuse else {
                throw VaultError(
                    .exists, "\"\(key)\" has another value already than the one in \(path); nothing was imported.")
            }
            if present == nil || conflict == .replaceStored { batch.changes.updateValue(value, forKey: key) }
        }
        return (store, batch)
    }
}
