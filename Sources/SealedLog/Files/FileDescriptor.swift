private import Glibc

/// An open file; closed when the value goes.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    package init(owning number: Int32) {
        self.number = number
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
    package let isRegularFile: Bool
    package let isDirectory: Bool
}
