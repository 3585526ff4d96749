private import Glibc

/// An open file; closed when the value goes.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    /// - Parameter number: what a system call gave, or -1. One of a standard stream, which a program that was started without it gets
    ///   here, is exchanged for a higher one: what is printed would go into the file. -1, with errno, if there is none.
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

/// What the system knows of a file.
package struct FileStatus: Hashable, Sendable {
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64
    }

    package let identity: Identity
    package let size: UInt64
    /// When the contents were last changed, and when anything was: nanoseconds since 1970, in steps of some milliseconds.
    package let contentsChanged: Int64
    package let changed: Int64
    /// Permission bits.
    package let mode: UInt32
    package let owner: UInt32
    package let group: UInt32
    /// Names that lead to it.
    package let links: UInt64
    package let isRegularFile: Bool
    package let isDirectory: Bool

    /// What lies there, if it is no regular file; a part of a sentence.
    package var kind: String { isDirectory ? "a folder" : "a named pipe, a socket or a device" }
}
