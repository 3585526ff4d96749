import FoundationEssentials
package import LinuxSystem
import PropertyList

/// The plain file of an older program: a property list, a keyed archive or JSON.
///
/// ``importValues(from:replacing:to:)`` moves its values to stores and removes it. Code that stores them itself reads
/// the file, makes the stores durable, and then removes it: see <doc:MovingValues>.
public struct PlainFile: ~Copyable {
    /// The fields of the dictionary at the file's root, without those that are `null` in JSON or nil in an archive.
    public let values: [String: StoredValue]
    private let bytes: [UInt8]
    private let file: WholeFile

    /// Reads a property list (XML or binary), a keyed archive, or JSON. The content decides. nil if there is no file.
    ///
    /// - Parameter path: a file of at most 64 MiB; a symbolic link is followed.
    /// - Throws: ``VaultError`` with `damaged` if the file has none of these formats, or no dictionary at its root, or,
    ///   in JSON, a key twice, an integer beyond 64 bits, more than 128 levels or a million values, or if it is an
    ///   archive that cannot be decoded; `unavailable`.
    public init?(path: String) throws(VaultError) { try self.init(path: path, in: PosixFileSystem()) }

    package init?(path: String, in fileSystem: any FileSystem) throws(VaultError) {
        // Symbolic links are resolved: removing a link would leave its target.
        let path = resolvedPath(path)
        let file = WholeFile(path, in: fileSystem)
        guard let bytes = try PlainFile.contents(of: file) else { return nil }
        values = try PlainFile.values(in: bytes, from: path)
        self.bytes = bytes
        self.file = file
    }

    /// Reads bytes that have one of the formats of ``init(path:)``.
    package static func values(in bytes: [UInt8], from path: String) throws(VaultError) -> [String: StoredValue] {
        do { return try values(in: bytes) } catch let error as PropertyListError {
            throw VaultError(
                .damaged, "\(path) is neither a property list nor JSON that can be read: \(error.sentence).")
        } catch let finding as ImportFinding {
            throw VaultError(.damaged, "Cannot import \(path): \(finding.text).")
        } catch {
            // A decoding error may quote a value.
            throw VaultError(.damaged, "\(path) is neither a property list nor JSON with an object at its root.")
        }
    }

    /// Removes the file durably, unless it was changed since it was read. If it is already removed, there is no error.
    ///
    /// The file is compared right before the removal; if another file replaces it between the two, that one is removed
    /// instead. So the older program should not run meanwhile. <doc:MovingValues> describes what remains on the disk.
    ///
    /// - Throws: ``VaultError`` with `busy` if the file's content has changed since it was read, `damaged` if it is
    ///   larger than a file may be; `unavailable`.
    public borrowing func remove() throws(VaultError) {
        if let present = try PlainFile.contents(of: file), present != bytes {
            throw VaultError(.busy, "Someone changed \(file.path) meanwhile; run the import again.")
        }
        // Renaming it first would detect a replacement, but a crash would then leave secrets under an unknown name.
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

/// Why a file cannot be imported, as the end of a sentence. It may name a key, never a value.
struct ImportFinding: Error { let text: String }
