/// The system calls that the vault makes on files, so that tests can let each of them fail.
package protocol FileSystem: Sendable {
    func open(_ path: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor
    /// Reads up to the buffer's size; fewer bytes only at the end of the file.
    func read(
        _ file: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at place: UInt64
    ) throws(SystemError) -> Int
    /// Writes all the bytes; a short write is an error.
    func write(_ file: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer, at place: UInt64) throws(SystemError)
    /// Where the next bytes lie that are not in a hole, at or behind a place; nil if there are none.
    func nextData(_ file: borrowing FileDescriptor, from place: UInt64) throws(SystemError) -> UInt64?
    /// fdatasync.
    func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError)
    /// fsync; for folders too.
    func synchronize(_ file: borrowing FileDescriptor) throws(SystemError)
    /// Tries to take the lock; false if someone else holds it.
    func tryLock(_ file: borrowing FileDescriptor, _ kind: LockKind) throws(SystemError) -> Bool
    func unlock(_ file: borrowing FileDescriptor)
    func volume(of file: borrowing FileDescriptor) -> Volume
    func status(of file: borrowing FileDescriptor) throws(SystemError) -> FileStatus
    func status(at path: String) throws(SystemError) -> FileStatus
    func setMode(_ file: borrowing FileDescriptor, _ mode: UInt32) throws(SystemError)
    func setOwner(_ file: borrowing FileDescriptor, owner: UInt32, group: UInt32) throws(SystemError)
    func rename(_ path: String, to newPath: String, replacing: Bool) throws(SystemError)
    func remove(_ path: String) throws(SystemError)
    /// One folder, mode 0700; false if it is there already.
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

/// What the system says about the file system that holds a file.
package struct Volume: Hashable, Sendable {
    /// Whether other machines or programs may write the file's bytes behind the kernel's back: NFS, SMB, FUSE.
    package var isRemote = false
    /// Whether it is gone once the machine is off.
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
    func open(
        _ path: String, _ access: FileAccess, orElse reading: FileAccess, refusal: inout SystemError?
    ) throws(SystemError) -> FileDescriptor {
        do throws(SystemError) { return try open(path, access) } catch {
            guard error.isRefused || error.isReadOnly else { throw error }
            refusal = error
        }
        return try open(path, reading)
    }

    /// Makes the folder and those above it that are missing. Their names are on the disk when this returns: what is
    /// stored below them would be lost with them.
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

// By bytes: a combining mark that follows a slash makes one character with it.
extension String {
    /// The folder that a path names a file in; "/" for the root, "." for a bare name.
    package var parentFolder: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    /// What follows the last slash.
    package var lastPathComponent: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[utf8.index(after: slash)...])
    }
}
