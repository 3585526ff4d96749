import FoundationEssentials
package import LinuxSystem
import PropertyList

/// The plain file of an older program, whole: its values, and its removal once they are safe elsewhere.
///
/// For code that brings the values to their places itself; where each key goes to one store as it is, ``PlainFileImport`` does it all.
///
/// ```swift
/// guard let file = try PlainFile(path: path) else { return }
/// // … store what file.values holds …
/// try store.makeDurable()
/// try file.remove()
/// ```
public struct PlainFile: ~Copyable {
    /// What the dictionary at the file's root holds. A `null` of JSON there is no value.
    public let values: [String: StoredValue]
    private let bytes: [UInt8]
    private let path: String
    private let fileSystem: any FileSystem

    /// Reads a property list, XML or binary, or JSON, told apart by content; nil if there is no file.
    ///
    /// - Parameter path: where it lies; a symbolic link is followed. At most 64 MiB.
    /// - Throws: ``VaultError`` with `damaged` if the file is none of these formats, or has no dictionary at its root, or, in JSON, a key
    ///   twice, an integer beyond 64 bits or more than 128 levels; `unavailable`.
    public init?(path: String) throws(VaultError) {
        try self.init(path: path, in: PosixFileSystem())
    }

    package init?(path: String, in fileSystem: any FileSystem) throws(VaultError) {
        // Without symbolic links: removing one would leave the file that it leads to.
        let path = resolvedPath(path)
        guard let bytes = try PlainFile.contents(path, fileSystem) else { return nil }
        do {
            values = try PlainFile.values(in: bytes)
        } catch let error as PropertyListError {
            throw VaultError(
                .damaged, "\(path) is neither a property list nor JSON that can be read: \(error.sentence).")
        } catch let finding as JSONSurvey.Finding {
            throw VaultError(.damaged, "Cannot import \(path): \(finding.text).")
        } catch {
            // A decoding error may hold what it stumbled on.
            throw VaultError(.damaged, "\(path) is neither a property list nor JSON with an object at its root.")
        }
        self.bytes = bytes
        self.path = path
        self.fileSystem = fileSystem
    }

    /// Removes the file durably, unless someone has changed it since it was read. That someone has removed it is fine.
    ///
    /// The last look is right before the removal; a file that takes its place between the two goes in its stead. To put it aside first
    /// would save that one, but a crash would then leave the secrets under a name that nobody looks at. So the older program
    /// had better not run meanwhile. The file's blocks may stay on the disk for a while, and in backups.
    ///
    /// - Throws: ``VaultError`` with `busy` if it was changed: what it holds now is not what was read; `unavailable`.
    public borrowing func remove() throws(VaultError) {
        if let present = try PlainFile.contents(path, fileSystem), present != bytes {
            throw VaultError(.busy, "Someone changed \(path) meanwhile; run the import again.")
        }
        do { try WholeFile(path, in: fileSystem).remove() } catch { throw VaultError(system: error, path) }
    }

    private static func contents(_ path: String, _ fileSystem: any FileSystem) throws(VaultError) -> [UInt8]? {
        do { return try WholeFile(path, in: fileSystem).read(upTo: PreferencesFile.sizeLimit)?.bytes } catch {
            if let kind = error.kindOfNoFile {
                throw VaultError(.unavailable, "Cannot import \(path): it is \(kind), not a file.")
            }
            guard !error.isTooLarge else {
                throw VaultError(
                    .damaged, "Cannot import \(path): it is larger than \(PreferencesFile.sizeLimit >> 20) MiB.")
            }
            throw VaultError(system: error, path)
        }
    }

    private static func values(in bytes: [UInt8]) throws -> [String: StoredValue] {
        let isJSON = bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
        guard !isJSON else {
            try JSONSurvey.check(bytes)
            return try JSONDecoder().decode([String: JSONValue].self, from: Data(bytes)).compactMapValues(\.stored)
        }
        guard case .dictionary(let values) = try PropertyList.parse(bytes).0 else {
            throw PropertyListError(.malformed, "its root is no dictionary")
        }
        return values.mapValues(StoredValue.init)
    }
}

/// A value in a JSON file.
private struct JSONValue: Decodable {
    /// nil for a `null`, which at the top says that there is no value.
    let stored: StoredValue?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            stored = nil
        } else if let value = try? container.decode(Bool.self) {
            stored = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            stored = .integer(Int128(value))
        } else if let value = try? container.decode(UInt64.self) {
            stored = .integer(Int128(value))
        } else if let value = try? container.decode(Double.self) {
            stored = .real(value)
        } else if let value = try? container.decode(String.self) {
            stored = .string(value)
        } else if let values = try? container.decode([JSONValue].self) {
            stored = .array(values.map { $0.stored ?? .null })
        } else {
            stored = .dictionary(try container.decode([String: JSONValue].self).mapValues { $0.stored ?? .null })
        }
    }
}
