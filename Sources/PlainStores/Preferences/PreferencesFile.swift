import FoundationEssentials
import LinuxSystem
import PropertyList

/// The property list file of a suite. It is read as a whole, and replaced as a whole under its folder's lock.
struct PreferencesFile: Sendable {
    let file: WholeFile
    /// The path as given by the caller, before symbolic links were resolved; nil if it is the same as `path`.
    var namedPath: String?
    var path: String { file.path }
    /// The maximum size of the file, 64 MiB. A larger file is not read.
    static let sizeLimit = UInt64(PropertyListFormat.maximumSize)

    func status() throws(VaultError) -> FileStatus? { try translated(file.status(withTimes: true)) }

    /// Reads the file. If it is missing, the snapshot has no values.
    ///
    /// - Parameter known: the content as of the last read or write. If the file has the same bytes, for example because
    ///   this process has written it, it is not parsed again. This saves a fifth of the cost of a write.
    func read(_ known: PreferencesSnapshot?) throws(VaultError) -> PreferencesSnapshot {
        // A damaged file is read up to five times, because another tool may be in the middle of writing it in place.
        for _ in 0..<4 {
            do { return try readOnce(known) } catch {
                guard error.code == .damaged else { throw error }
                Clock.sleep(microseconds: 5_000)
            }
        }
        return try readOnce(known)
    }

    private func readOnce(_ known: PreferencesSnapshot?) throws(VaultError) -> PreferencesSnapshot {
        let readAt = Clock.realTime
        let found: WholeFile.Contents?
        do { found = try file.read(upTo: PreferencesFile.sizeLimit) } catch { throw VaultError(reading: error, path) }
        guard let contents = found else { return PreferencesSnapshot([:], .xml, nil, nil, readAt: readAt) }
        let (bytes, status) = (contents.bytes, contents.status)
        let same = known.flatMap { $0.bytes == bytes ? ($0.values, $0.format) : nil }
        do throws(PropertyListError) {
            let (values, format) = if let same { same } else { try PropertyListFormat.parseDictionary(bytes) }
            return PreferencesSnapshot(values, format, status, contents.takeFile(), readAt: readAt, bytes: bytes)
        } catch { throw VaultError(damagedPreferences: error.sentence, path) }
    }

    /// Reads the file and applies a batch to it if the batch's expectations hold. Holds the folder's lock throughout.
    ///
    /// - Parameters:
    ///   - forms: the changes in property list form.
    ///   - known: the content as of the last read or write.
    /// - Returns: whether the expectations hold, and the new content, which is nil if the file was left unchanged.
    func update(
        _ batch: StoreBatch, _ forms: [String: StoredValue?], _ known: PreferencesSnapshot?
    ) throws(VaultError) -> (holds: Bool, new: PreferencesSnapshot?) {
        try WrittenPath.checkParentFolder(of: namedPath ?? path, in: file.fileSystem)
        let lock = try translated(
            FolderLock.acquire(ofFile: path, in: file.fileSystem, until: Deadline(after: .seconds(10))))
        let former = try read(known)
        guard try batch.holds(former.value(of:)) else { return (false, nil) }
        guard forms.contains(where: { former.values[$0.key] != $0.value }) else { return (true, nil) }
        var values = former.values
        for (key, form) in forms { values[key] = form }
        let bytes = try serialized(values, former.format)
        let replacedAt = Clock.realTime
        let new = try translated(bytes.withRawBytes { (bytes) throws(SystemError) in try file.replace(with: bytes) })
        let status = try translated(file.fileSystem.status(of: new, withTimes: true))
        do { try lock.synchronizeFolder(in: file.fileSystem) } catch {
            throw VaultError(unflushedPreferences: error, path)
        }
        lock.release()
        return (true, PreferencesSnapshot(values, former.format, status, new, readAt: replacedAt, bytes: bytes))
    }

    func serialized(_ values: [String: StoredValue], _ format: PropertyListFormat) throws(VaultError) -> [UInt8] {
        do throws(PropertyListError) { return try format.serialized(.dictionary(values)) } catch {
            throw VaultError(.invalid, "The value cannot be stored in a property list: \(error.sentence).")
        }
    }

    /// Flushes the file and its directory entry. If the file does not exist, flushes its removal.
    func makeDurable() throws(VaultError) {
        do { try file.synchronize() } catch { throw VaultError(unflushedPreferences: error, path) }
    }

    private func translated<Result: ~Copyable>(
        _ body: @autoclosure () throws(SystemError) -> Result
    ) throws(VaultError) -> Result {
        do { return try body() } catch { throw VaultError(system: error, path) }
    }
}

final class PreferencesSnapshot: Sendable {
    /// The values in property list form.
    let values: [String: StoredValue]
    let format: PropertyListFormat
    /// The file's metadata; nil if there was no file.
    let status: FileStatus?
    /// The file's bytes; nil if there was no file. Equal bytes mean equal values, even if the file's times differ.
    let bytes: [UInt8]?
    /// The open file. While it is open, no other file can get its inode number and be mistaken for it.
    private let file: FileDescriptor?
    /// Whether a later change is certain to change the file's times, which advance in steps of several milliseconds.
    private let hasTellingTimes: Bool

    /// The coarsest resolution that a file's times are assumed to have, in nanoseconds.
    private static let coarsestStep: Int64 = 20_000_000

    /// - Parameter readAt: a time before the file was read or replaced, in nanoseconds since 1970.
    init(
        _ values: [String: StoredValue], _ format: PropertyListFormat, _ status: FileStatus?,
        _ file: consuming FileDescriptor?, readAt: Int64, bytes: [UInt8]? = nil
    ) {
        self.values = values
        self.format = format
        self.status = status
        self.file = file
        self.bytes = bytes
        hasTellingTimes =
            status.map { readAt &- max($0.contentsChanged, $0.changed) > PreferencesSnapshot.coarsestStep } ?? true
    }

    func value(of key: String) -> StoredValue? { values[key].map(StoredValue.init(propertyList:)) }

    /// Returns whether a file with the metadata `status` is the file that was read and has not changed since.
    func isCurrent(_ status: FileStatus?) -> Bool { hasTellingTimes && self.status == status }
}

extension VaultError {
    /// Creates the error for a failed read. In a read, unlike in a write, EFBIG means that the file is too large.
    fileprivate init(reading error: SystemError, _ path: String) {
        if let kind = error.kindOfNoFile {
            self.init(.unavailable, "The property list \(path) is \(kind), not a file. Move it away.")
        } else if error.isTooLarge {
            self.init(damagedPreferences: "it is larger than \(PreferencesFile.sizeLimit >> 20) MiB", path)
        } else {
            self.init(system: error, path)
        }
    }

    fileprivate init(damagedPreferences reason: String, _ path: String) {
        self.init(
            .damaged,
            "The property list \(path) is damaged and was left alone: \(reason). Fix it or move it away.")
    }

    /// Creates the error for a failed flush: the new file is in place, but a crash may undo the change.
    fileprivate init(unflushedPreferences error: SystemError, _ path: String) {
        self.init(
            .outcomeUnknown, "The disk failed while \(path) was written: the last change may or may not be stored.",
            systemError: error.number)
    }
}

// Three kinds of values have a special form in a property list. `untyped` is written as data. `null` is written as
// `{$nil: true}`, and a date that XML cannot hold, such as one with a fraction of a second, as `{$date: seconds since
// 2001}`. A dictionary that already has one of these forms is refused.

extension StoredValue {
    private static let nilKey = "$nil"
    private static let dateKey = "$date"

    /// Converts a property list to the value that it represents, by replacing the special forms of null and of dates.
    init(propertyList form: StoredValue) {
        switch form {
        case .array(let forms): self = .array(forms.map(StoredValue.init(propertyList:)))
        case .dictionary(let forms):
            self = StoredValue.replaced(by: forms) ?? .dictionary(forms.mapValues(StoredValue.init(propertyList:)))
        default: self = form
        }
    }

    private static func replaced(by form: [String: StoredValue]) -> StoredValue? {
        guard form.count == 1, let (key, value) = form.first else { return nil }
        switch (key, value) {
        case (nilKey, .boolean(true)): return .null
        case (dateKey, .real(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        default: return nil
        }
    }

    /// Returns the value's form in a property list. Throws ``VaultError/Code/invalid`` if it has none.
    func propertyList(for key: String, depth: Int = 0) throws(VaultError) -> StoredValue {
        guard depth < StoredValue.maximumDepth else {
            throw VaultError(
                .invalid, "The value for \"\(key)\" is nested more than \(StoredValue.maximumDepth) levels deep.")
        }
        switch self {
        case .null: return .dictionary([StoredValue.nilKey: .boolean(true)])
        case .untyped(let bytes): return .data(bytes)
        case .date(let date) where !CalendarTime.holds(date):
            return .dictionary([StoredValue.dateKey: .real(date.timeIntervalSinceReferenceDate)])
        case .array(let values):
            return .array(
                try values.map { (value) throws(VaultError) in try value.propertyList(for: key, depth: depth + 1) })
        case .dictionary(let values):
            var forms: [String: StoredValue] = [:]
            for (name, value) in values { forms[name] = try value.propertyList(for: key, depth: depth + 1) }
            guard StoredValue.replaced(by: forms) == nil else {
                throw VaultError(
                    .invalid,
                    """
                    The value for "\(key)" contains a dictionary that would be read back from the property list as nil \
                    or a date.
                    """
                )
            }
            return .dictionary(forms)
        case .boolean, .integer, .real, .string, .data, .date: return self
        }
    }
}

extension StoreBatch {
    func propertyLists() throws(VaultError) -> [String: StoredValue?] {
        var forms: [String: StoredValue?] = [:]
        for (key, value) in changes { forms.updateValue(try value?.propertyList(for: key), forKey: key) }
        return forms
    }
}
