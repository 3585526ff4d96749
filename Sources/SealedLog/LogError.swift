package import LinuxSystem
import Sealing

/// A failure of the sealed log: its kind, details, and the system's error number if there is one.
///
/// `detail` contains offsets, sizes and paths, but never a name or value of the vault, nor anything of a key.
package struct LogError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// There is no file at the path.
        case missing
        /// There is no file at the path, but this machine remembers a vault there.
        case gone
        /// There is a folder, a named pipe, a socket or a device at the path.
        case notAFile
        /// There is already a file at the path.
        case exists
        /// The caller's mistake: a name, a value or a transaction out of bounds.
        case invalid
        /// There is no key file.
        case keyMissing
        /// The key file cannot be read.
        case keyUnreadable
        /// Others can read or write the key file.
        case keyExposed
        /// The key file belongs to root, and others can read it.
        case keyShared
        /// The key file is a generated one, but mistyped, cut or changed.
        case keyDamaged
        /// The key file's contents cannot be a key.
        case keyUnsuitable
        /// The key does not open any slot.
        case keyWrong
        /// The file does not authenticate or violates the format.
        case damaged
        /// A later version of the format.
        case newerFormat
        case rolledBack
        case diverged
        case exchanged
        /// The lock was not free in time.
        case busy
        /// The system refused: a full disk, a read-only file system, a permission.
        case unavailable
        /// A failed fsync that could not be undone: the write may or may not be durable.
        case outcomeUnknown
        /// An entry is not as the transaction expects it.
        case conflict
        /// Guarded memory cannot be allocated.
        case outOfMemory
    }

    package let code: Code
    package let detail: String
    package let systemError: Int32?

    package init(_ code: Code, _ detail: String = "", systemError: Int32? = nil) {
        self.code = code
        self.detail = detail
        self.systemError = systemError
    }
}

extension LogError {
    package init(_ error: SystemError, _ path: String) {
        if error.isBusy {
            self.init(.busy, path)
        } else {
            self.init(.unavailable, "\(error.call) \(path)", systemError: error.number)
        }
    }

    init(_ error: SealingError) {
        switch error.code {
        case .outOfMemory: self.init(.outOfMemory)
        case .forged: self.init(.damaged, "a sealed box does not open")
        default: self.init(.damaged, "a length out of bounds")
        }
    }

    /// Creates an error for bytes that do not authenticate or violate the format.
    static func damaged(_ what: String, at offset: UInt64? = nil) -> LogError {
        LogError(.damaged, offset.map { "\(what) at byte \($0)" } ?? what)
    }
}

extension FolderLock {
    /// Waits for the lock of the folder in which a file will be created.
    ///
    /// - Throws: `busy`, `unavailable`.
    package static func acquire(
        forFile path: String, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(LogError) -> FolderLock {
        do { return try acquire(path.parentFolder, in: fileSystem, until: deadline) } catch {
            throw LogError(error, path.parentFolder)
        }
    }
}
