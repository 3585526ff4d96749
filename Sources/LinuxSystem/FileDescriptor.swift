private import Glibc

/// An open file, closed when this value is destroyed.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    /// Takes over a descriptor that a system call returned, or -1.
    ///
    /// If the program was started with stdin, stdout or stderr closed, the kernel may return 0 to 2. Those are duplicated to
    /// a higher number, so that printed output cannot end up in the file; -1, with errno, if that fails.
    package init(owning number: Int32) {
        guard (STDIN_FILENO...STDERR_FILENO).contains(number) else {
            self.number = number
            return
        }
        self.number = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        close(number)
    }

    deinit {
        close(number)
    }
}

/// The metadata of a file.
package struct FileStatus: Hashable, Sendable {
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64
    }

    package let identity: Identity
    package let size: UInt64
    /// Nanoseconds since 1970, in steps of some milliseconds: of the contents (mtime), and of anything (ctime).
    package let contentsChanged: Int64
    package let changed: Int64
    /// Permission bits.
    package let mode: UInt32
    package let owner: UInt32
    package let group: UInt32
    /// The number of its names.
    package let links: UInt64
    package let isRegularFile: Bool
    package let isDirectory: Bool

    /// What it is if it is not a regular file; a part of a sentence.
    package var kind: String { isDirectory ? "a folder" : "a named pipe, a socket or a device" }
}
