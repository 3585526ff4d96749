private import Glibc
import PropertyList
import SealedLog

/// What a property list file held when it was read.
final class PreferencesSnapshot: Sendable {
    let values: [String: PropertyList]
    let format: PropertyListFormat
    /// nil if there was no file.
    let status: FileStatus?
    /// Kept open: while it is, no other file gets its inode's number and could be taken for it.
    private let store: FileRecordStore?
    /// Whether another change would show in the file's times. They go in steps of some milliseconds, so one right after a change may not.
    private let isTelling: Bool

    /// - Parameter readAt: a moment before the file was read, in nanoseconds since 1970.
    init(
        _ values: [String: PropertyList], _ format: PropertyListFormat, _ status: FileStatus, _ store: FileRecordStore,
        readAt: Int64
    ) {
        self.values = values
        self.format = format
        self.status = status
        self.store = store
        isTelling = readAt &- max(status.contentsChanged, status.changed) > PreferencesSnapshot.coarsestStep
    }

    private static let coarsestStep: Int64 = 20_000_000

    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// No file.
    init() {
        values = [:]
        format = .xml
        status = nil
        store = nil
        isTelling = true
    }

    /// Whether the file at the path is still this one, unchanged.
    func isCurrent(_ status: FileStatus?) -> Bool {
        isTelling && self.status == status
    }
}
