import PropertyList
import SealedLog

/// What a property list file held when it was read.
final class PreferencesSnapshot: Sendable {
    let values: [String: PropertyList]
    let format: PropertyListFormat
    /// nil if there was no file.
    private let status: FileStatus?
    /// Kept open: while it is, no other file gets its inode's number and could be taken for it.
    private let store: FileRecordStore?

    init(_ values: [String: PropertyList], _ format: PropertyListFormat, _ status: FileStatus, _ store: FileRecordStore)
    {
        self.values = values
        self.format = format
        self.status = status
        self.store = store
    }

    /// No file.
    init() {
        values = [:]
        format = .xml
        status = nil
        store = nil
    }

    /// Whether the file at the path is still this one, unchanged.
    func isCurrent(_ status: FileStatus?) -> Bool {
        self.status == status
    }
}
