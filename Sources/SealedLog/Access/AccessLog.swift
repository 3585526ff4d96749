private import Glibc
import LinuxSystem
import Sealing

/// The access log, which lists reads of a vault's values on this machine. See Format.md, "The access log".
///
/// Each record is appended with a single write to a file in the folder of the rollback memory. When the file is full,
/// it is renamed, replacing the previously renamed file.
struct AccessLog: Sendable {
    /// The maximum size in bytes of each of the log's two files. A file is full if the next record does not fit.
    var fileSize: UInt64 = 8 << 20

    let folder: MemoryFolder
    let records: AccessRecords
    private var fileSystem: any FileSystem { folder.fileSystem }

    static func name(_ vaultID: [UInt8]) -> String { "\(Hexadecimal.string(of: vaultID)).access" }

    private var location: String { folder.location(of: AccessLog.name(records.vaultID)) }
    private var formerLocation: String { location + "-former" }

    /// Appends a record without flushing it, so the newest records may be lost in a power loss.
    ///
    /// - Throws: `accessLogUnusable` or `busy`.
    func append(_ access: Access, until deadline: Deadline) throws(LogError) {
        while true {
            let file = try openForWriting()
            try lock(file, .exclusive, until: deadline)
            // Another process may have filled and renamed the file since it was opened. If so, open the new one.
            guard try isCurrent(file) else { continue }
            if try append(access, to: file) { return }
            try used(fileSystem.rename(location, to: formerLocation, replacing: true))
        }
    }

    /// Checks that a record can be appended. Does not detect a full file system.
    ///
    /// - Throws: `accessLogUnusable`.
    func check() throws(LogError) { _ = try openForWriting() }

    /// Appends a record. Returns false if the file is full.
    private func append(_ access: Access, to file: borrowing FileDescriptor) throws(LogError) -> Bool {
        let size = try used(fileSystem.status(of: file)).size
        let end = try end(of: file, size)
        let last = if let last = end.last { last } else { try lastOfFormer() }
        let record = try records.sealed(access, after: last)
        guard end.offset == 0 || end.offset + UInt64(record.count) <= fileSize else { return false }
        if end.isTorn {
            // Clear the torn record first, so that zeros follow the new record even if its write is interrupted too.
            try write([UInt8](repeating: 0, count: Int(size - end.offset)), to: file, at: end.offset)
        }
        try write(record, to: file, at: end.offset)
        return true
    }

    private func write(_ bytes: [UInt8], to file: borrowing FileDescriptor, at offset: UInt64) throws(LogError) {
        do throws(SystemError) {
            try bytes.withRawBytes { (bytes) throws(SystemError) in try fileSystem.write(file, bytes, at: offset) }
        } catch { throw unusable(error) }
    }

    private struct End {
        let last: AccessRecords.Found?
        let offset: UInt64
        /// Whether a torn record begins at `offset`.
        let isTorn: Bool
    }

    /// Finds the last authentic record, searching from the file's end. Damage after that record is kept as evidence.
    private func end(of file: borrowing FileDescriptor, _ size: UInt64) throws(LogError) -> End {
        // Read enough bytes from the file's end for the last record and a torn record after it.
        let window = UInt64(2 * AccessFrame.largestSize)
        let start = size > window ? (size - window) / UInt64(AccessFrame.alignment) * UInt64(AccessFrame.alignment) : 0
        var bytes = try bytes(of: file, from: start, to: size)
        var first = start
        var last = records.last(in: bytes)
        if last == nil, start > 0 {
            bytes = try self.bytes(of: file, from: 0, to: size)
            first = 0
            last = records.last(in: bytes)
        }
        let offset = first + UInt64(last?.range.upperBound ?? 0)
        let tail = records.tail(of: bytes, from: last?.range.upperBound ?? 0)
        let blocks = (size + UInt64(AccessFrame.alignment) - 1) / UInt64(AccessFrame.alignment)
        return End(
            last: last, offset: tail == .damaged ? blocks * UInt64(AccessFrame.alignment) : offset,
            isTorn: tail == .torn)
    }

    private func lastOfFormer() throws(LogError) -> AccessRecords.Found? {
        guard let file = try openForReading(formerLocation) else { return nil }
        return try end(of: file, used(fileSystem.status(of: file)).size).last
    }

    /// Reads all records under a shared lock, so that no process writes during the call.
    ///
    /// - Throws: `accessLogUnusable` or `busy`.
    func read(until deadline: Deadline) throws(LogError) -> AccessReport {
        var report = AccessReport()
        while let file = try openForReading(location) {
            try lock(file, .shared, until: deadline)
            guard try isCurrent(file) else { continue }
            try addFormer(to: &report)
            report.add(try bytes(of: file, from: 0, to: used(fileSystem.status(of: file)).size), of: location, records)
            return report
        }
        try addFormer(to: &report)
        return report
    }

    private func addFormer(to report: inout AccessReport) throws(LogError) {
        guard let file = try openForReading(formerLocation) else { return }
        let size = try used(fileSystem.status(of: file)).size
        report.add(try bytes(of: file, from: 0, to: size), of: formerLocation, records)
    }

    /// Reads bytes of a file. Throws `accessLogUnusable` if the file is larger than any file that writers create.
    private func bytes(
        of file: borrowing FileDescriptor, from start: UInt64, to end: UInt64
    ) throws(LogError) -> [UInt8] {
        guard end <= 2 * fileSize else { throw LogError(.accessLogUnusable, "\(location) is too large") }
        return try used(fileSystem.read(file, upTo: Int(end - start), at: start))
    }

    /// Opens the file. The folder and the file must pass the same checks as those of the rollback memory. However, root
    /// may append its reads to a user's file, because the file's contents are not trusted.
    private func openForWriting() throws(LogError) -> FileDescriptor {
        var former = try checked(folder.status(isForRecords: true))
        if former == nil {
            try checked(folder.checkWhereItWouldBe())
            try used(fileSystem.makeFolders(folder.path))
            former = try checked(folder.status(isForRecords: true))
        }
        let file = try used(fileSystem.open(location, .readWriteOrCreateNoFollow))
        let status = try used(fileSystem.status(of: file))
        try checked(folder.check(status, location, isForRecords: true))
        // A file that root creates in a user's folder must belong to that user.
        if let former, former.owner != status.owner, geteuid() == 0 {
            try used(fileSystem.setOwner(file, owner: former.owner, group: former.group))
        }
        return file
    }

    private func openForReading(_ location: String) throws(LogError) -> FileDescriptor? {
        guard let file = try used(unlessMissing(fileSystem.open(location, .readNoFollow))) else { return nil }
        let status = try used(fileSystem.status(of: file))
        try checked(folder.check(status, location, isForRecords: true))
        return file
    }

    private func isCurrent(_ file: borrowing FileDescriptor) throws(LogError) -> Bool {
        let identity = try used(fileSystem.status(of: file)).identity
        return try used(unlessMissing(fileSystem.status(at: location)))?.identity == identity
    }

    private func lock(_ file: borrowing FileDescriptor, _ kind: LockKind, until deadline: Deadline) throws(LogError) {
        do { try fileSystem.lock(file, kind, until: deadline) } catch {
            throw error.isBusy ? LogError(error, location) : unusable(error)
        }
    }

    private func used<Result: ~Copyable>(
        _ call: @autoclosure () throws(SystemError) -> Result
    ) throws(LogError) -> Result { do { return try call() } catch { throw unusable(error) } }

    private func checked<Result>(_ check: @autoclosure () throws(Notice) -> Result) throws(LogError) -> Result {
        do { return try check() } catch {
            guard case .memoryUnusable(let reason) = error else { throw LogError(.accessLogUnusable) }
            throw LogError(.accessLogUnusable, reason)
        }
    }

    private func unusable(_ error: SystemError) -> LogError {
        guard case .memoryUnusable(let reason) = folder.unusable(location, error) else {
            return LogError(.accessLogUnusable)
        }
        return LogError(.accessLogUnusable, reason, systemError: error.number)
    }
}
