package import LinuxSystem

/// What went wrong in the sealed log: what kind, where, and the system's own error beneath, if there is one.
///
/// `detail` names offsets, sizes and paths; never a name or value from the vault, nor anything of a key.
package struct LogError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// No file at the path.
        case missing
        /// No file at the path, where this machine remembers a vault.
        case gone
        /// A folder, a named pipe, a socket or a device at the path.
        case notAFile
        /// A file is at the path already.
        case exists
        /// The caller's mistake: a name, a value or a transaction out of bounds.
        case invalid
        /// The key file is not there.
        case keyMissing
        /// The key file cannot be read.
        case keyUnreadable
        /// The key file can be read or written by others.
        case keyExposed
        /// The key file is root's, and others can read it.
        case keyShared
        /// The key file is a generated one, and mistyped, cut or changed.
        case keyDamaged
        /// The key file holds what can be no key.
        case keyUnsuitable
        /// The key opens none of the slots.
        case keyWrong
        /// Authentication or format.
        case damaged
        /// The file was written by a later version of the format.
        case newerFormat
        case rolledBack
        case diverged
        case exchanged
        /// The lock was not free in time.
        case busy
        /// The system refused: a full disk, a read-only file system, a permission.
        case unavailable
        /// A failed fsync that could not be undone: the write may or may not last.
        case outcomeUnknown
        /// An entry is not as the transaction expects it.
        case conflict
        /// There is no guarded memory to be had.
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
    /// Translates an error of the system: what was being done, and to what.
    package init(_ error: SystemError, _ path: String) {
        if error.isBusy {
            self.init(.busy, path)
        } else {
            self.init(.unavailable, "\(error.call) \(path)", systemError: error.number)
        }
    }

    /// Bytes that authenticate but break the format, or do not authenticate.
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
