import FoundationEssentials
package import LinuxSystem
import PropertyList

/// An unencrypted file left by an older program: a property list, a keyed archive or JSON.
///
/// ``importValues(from:replacing:to:)`` moves the file's values to stores and removes the file. Code that copies the
/// values on its own must make them durable before it removes the file (see <doc:MovingValues>).
public struct PlainFile: ~Copyable {
    /// The fields of the dictionary at the file's root, except those that are `null` in JSON or nil in an archive.
    public let values: [String: StoredValue]
    private let bytes: [UInt8]
    private let file: WholeFile

    /// Reads an XML or binary property list, a keyed archive or JSON, whichever it is; nil if there is no file.
    ///
    /// - Parameter path: a file of at most 64 MiB; a symbolic link is followed.
    /// - Throws: ``VaultError``: `damaged` if the file has none of these formats, has no dictionary at its root, or is
    ///   an archive that cannot be decoded; also `damaged` for JSON with a duplicate key, an integer beyond 64 bits,
    ///   more than 128 nesting levels or more than a million values; `unavailable` if the file cannot be read.
    public init?(path: String) throws(VaultError) { try self.init(path: path, in: PosixFileSystem()) }

    package init?(path: String, in fileSystem: any FileSystem) throws(VaultError) {
        // Symbolic links are resolved, because `remove()` would otherwise remove the link and leave its target.
        let path = resolvedPath(path)
        let file = WholeFile(path, in: fileSystem)
        guard let bytes = try PlainFile.contents(of: file) else { return nil }
        values = try PlainFile.values(in: bytes, from: path)
        self.bytes = bytes
        self.file = file
    }

    /// Parses bytes in one of the formats of ``init(path:)`` and returns the values. `path` appears only in errors.
    package static func values(in bytes: [UInt8], from path: String) throws(VaultError) -> [String: StoredValue] {
        do { return try values(in: bytes) } catch let error as PropertyListError {
            throw VaultError(
                .damaged, "\(path) cannot be read as a property list or JSON: \(error.sentence).")
        } catch let finding as ImportFinding {
            throw VaultError(.damaged, "Cannot import \(path): \(finding.text).")
        } catch {
            // The decoding error is not shown, since it may quote a value.
            throw VaultError(.damaged, "\(path) is neither a property list nor JSON with an object at its root.")
        }
    }

    /// Removes the file durably if it is unchanged since it was read. Does nothing if the file no longer exists.
    ///
    /// The content is compared right before the removal. If the older program writes the file in between, its changes
    /// are lost, so it should not be running. <doc:MovingValues> explains what remains on the disk.
    ///
    /// - Throws: ``VaultError``: `busy` if it was changed; `damaged` if over 64 MiB; `unavailable` if access fails.
    public borrowing func remove() throws(VaultError) {
        if let present = try PlainFile.contents(of: file), present != bytes {
            throw VaultError(.busy, "\(file.path) was changed after it was read. Run the import again.")
        }
        // Renaming the file first would miss no replacement, but a crash could leave its secrets under the new name.
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

    static func values(in bytes: [UInt8]) throws -> [String: StoredValue] {
        let isJSON = bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
        guard isJSON else {
            let list = try PropertyListFormat.parseDictionary(bytes, allowsUIDs: true).values
            guard let values = try KeyedArchive.values(in: list) else {
                return list.mapValues(StoredValue.init(propertyList:))
            }
            return values.filter { $0.value != .null }
        }
        guard case .dictionary(let values) = try StoredValue(json: bytes) else { return [:] }
        return values.filter { $0.value != .null }
    }
}

/// The reason why a file cannot be imported, as a sentence fragment. It may contain a key, but never a value.
struct ImportFinding: Error { let text: String }
