private import CLinux
private import Glibc

/// An exclusive lock on one byte of a file, so that a file can hold many locks. The byte need not exist.
///
/// The lock belongs to the open file, not to the process, so two of these exclude each other in one process too. The
/// kernel releases it when the last descriptor of that file is closed: at the latest when the process ends, in whatever
/// way.
package final class ByteLock: Sendable {
    private let file: FileDescriptor
    private let offset: Int64

    /// - Parameter file: a file that was opened for writing and is used for this lock only.
    package init(_ file: consuming FileDescriptor, offset: Int64) {
        self.file = file
        self.offset = offset
    }

    /// Tries to acquire the lock. Returns false if it is held elsewhere.
    package func tryLock() throws(SystemError) -> Bool {
        while vault_lock_byte(file.number, offset, F_WRLCK, 0) != 0 {
            if errno == EAGAIN || errno == EACCES { return false }
            if errno != EINTR { throw SystemError(errno, "lock") }
        }
        return true
    }
}
