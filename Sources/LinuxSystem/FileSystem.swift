/// The system calls that the vault makes on files: a seam through which tests make each of them fail.
package protocol FileSystem: Sendable {
    func open(_ path: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor
    /// Reads up to the buffer's size; fewer bytes only at the end of the file.
    func read(
        _ file: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int
    /// Writes all the bytes; a short write is an error.
    func write(_ file: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError)
    /// The offset of the next bytes at or after `offset` that are not in a hole; nil if there are none.
    func nextData(_ file: borrowing FileDescriptor, from offset: UInt64) throws(SystemError) -> UInt64?
    /// fdatasync.
    func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError)
    /// fsync; for folders too.
    func synchronize(_ file: borrowing FileDescriptor) throws(SystemError)
    /// Tries to take the lock; false if another process holds it.
    func tryLock(_ file: borrowing FileDescriptor, _ kind: LockKind) throws(SystemError) -> Bool
    func unlock(_ file: borrowing FileDescriptor)
    func volume(of file: borrowing FileDescriptor) -> Volume
    func status(of file: borrowing FileDescriptor) throws(SystemError) -> FileStatus
    func status(at path: String) throws(SystemError) -> FileStatus
    func setMode(_ file: borrowing FileDescriptor, _ mode: UInt32) throws(SystemError)
    func setOwner(_ file: borrowing FileDescriptor, owner: UInt32, group: UInt32) throws(SystemError)
    func rename(_ path: String, to newPath: String, replacing: Bool) throws(SystemError)
    func remove(_ path: String) throws(SystemError)
    /// Creates one folder of mode 0700; false if it exists.
    func makeFolder(_ path: String) throws(SystemError) -> Bool
}

/// How a file is opened. Never inherited by other programs.
package enum FileAccess: Hashable, Sendable {
    case read
    case readWrite
    /// A new file of mode 0600; an error if there is one.
    case create
    /// For reading, but not through a symbolic link.
    case readNoFollow
    /// For reading and writing, but not through a symbolic link.
    case readWriteNoFollow
    /// The file there, or a new one of mode 0600; not through a symbolic link.
    case readWriteOrCreateNoFollow
    case folder
}

/// Properties of the file system that contains a file.
package struct Volume: Hashable, Sendable {
    /// Whether other machines or programs may change the file without the kernel's knowledge: NFS, SMB, FUSE.
    package var isRemote = false
    /// Whether its files are lost when the machine is turned off.
    package var isInMemory = false
    package var isReadOnly = false

    package init(isRemote: Bool = false, isInMemory: Bool = false, isReadOnly: Bool = false) {
        self.isRemote = isRemote
        self.isInMemory = isInMemory
        self.isReadOnly = isReadOnly
    }
}

package enum LockKind: Hashable, Sendable {
    case shared
    case exclusive
}

extension FileSystem {
    package func volume(of file: borrowing FileDescriptor) -> Volume { Volume() }

    /// Opens a file for writing or, where that is refused, for reading alone.
    ///
    /// - Parameter refusal: why it is for reading alone.
    package func open(
        _ path: String, _ access: FileAccess, orElse reading: FileAccess, refusal: inout SystemError?
    ) throws(SystemError) -> FileDescriptor {
        do throws(SystemError) { return try open(path, access) } catch {
            guard error.isRefused || error.isReadOnly else { throw error }
            refusal = error
        }
        return try open(path, reading)
    }

    /// Creates the folder and its missing parents, and flushes their names: what is stored below would be lost with them.
    package func makeFolders(_ path: String) throws(SystemError) {
        let parent = path.parentFolder
        do {
            guard try makeFolder(path) else { return }
        } catch {
            guard error.isMissing, parent != path else { throw error }
            try makeFolders(parent)
            _ = try makeFolder(path)
        }
        try synchronizeFolder(parent)
    }

    /// Flushes a folder's list of names.
    package func synchronizeFolder(_ path: String) throws(SystemError) {
        try synchronize(open(path, .folder))
    }
}
