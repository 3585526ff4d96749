private import CLinux
private import Glibc

/// The exclusive lock of one byte of a file, for many locks in one file. The byte need not exist.
///
/// The lock belongs to the open file, not to the process, so that two of these exclude each other in one process too.
/// The kernel releases it when the last descriptor of that file is closed: at the latest when the process ends, however
/// it ends.
package final class ByteLock: Sendable {
    private let file: FileDescriptor
    private let offset: Int64

    /// - Parameter file: opened for writing, and for this lock alone.
    package init(_ file: consuming FileDescriptor, offset: Int64) {
        self.file = file
        self.offset = offset
    }

    /// Tries to take the lock; false if another holds it.
    package func tryLock() throws(SystemError) -> Bool {
        while vault_lock_byte(file.number, offset, F_WRLCK, 0) != 0 {
            if errno == EAGAIN || errno == EACCES { return false }
            if errno != EINTR { throw SystemError(errno, "lock") }
        }
        return true
    }
}
