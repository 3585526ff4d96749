private import Glibc

/// The system calls that the vault makes on files. Tests implement this protocol to make any of them fail.
package protocol FileSystem: Sendable {
    func open(_ path: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor
    /// Reads until the buffer is full or the file ends. Returns the number of bytes read.
    func read(
        _ file: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int
    /// Writes all bytes; a short write is an error.
    func write(_ file: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError)
    /// Returns the offset of the next data at or after `offset`, skipping holes; nil if there is none.
    func nextData(_ file: borrowing FileDescriptor, from offset: UInt64) throws(SystemError) -> UInt64?
    /// Calls fdatasync(2).
    func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError)
    /// Calls fsync(2), which can also flush folders.
    func synchronize(_ file: borrowing FileDescriptor) throws(SystemError)
    /// Calls syncfs(2), which flushes a whole file system, including the directory entries in all of its folders.
    func synchronizeVolume(of file: borrowing FileDescriptor) throws(SystemError)
    func tryLock(_ file: borrowing FileDescriptor, _ kind: LockKind) throws(SystemError) -> Bool
    func unlock(_ file: borrowing FileDescriptor)
    func volume(of file: borrowing FileDescriptor) -> Volume
    /// Returns the properties of a file. Request the times only if you need them: on Linux 6.13 and later, that makes
    /// the file's next write change its inode, which the next flush must also write, so a `set` is a third slower.
    func status(of file: borrowing FileDescriptor, withTimes: Bool) throws(SystemError) -> FileStatus
    func status(at path: String, withTimes: Bool) throws(SystemError) -> FileStatus
    func setMode(_ file: borrowing FileDescriptor, _ mode: UInt32) throws(SystemError)
    func setOwner(_ file: borrowing FileDescriptor, owner: UInt32, group: UInt32) throws(SystemError)
    func rename(_ path: String, to newPath: String, replacing: Bool) throws(SystemError)
    func remove(_ path: String) throws(SystemError)
    /// Creates one folder with mode 0700, unless it exists.
    func makeFolder(_ path: String) throws(SystemError)
}

/// An access mode for opening a file. Programs that this process starts do not inherit the descriptor.
package struct FileAccess: Hashable, Sendable {
    let flags: Int32

    package static let read = FileAccess(flags: O_RDONLY)
    package static let readWrite = FileAccess(flags: O_RDWR)
    /// Creates a file with mode 0600. Fails if the file exists.
    package static let create = FileAccess(flags: O_RDWR | O_CREAT | O_EXCL)
    /// Opens a file for reading. The `NoFollow` modes fail if the path is a symbolic link.
    package static let readNoFollow = FileAccess(flags: O_RDONLY | O_NOFOLLOW)
    package static let readWriteNoFollow = FileAccess(flags: O_RDWR | O_NOFOLLOW)
    /// Opens an existing file for reading and writing, or creates one with mode 0600.
    package static let readWriteOrCreateNoFollow = FileAccess(flags: O_RDWR | O_CREAT | O_NOFOLLOW)
    package static let folder = FileAccess(flags: O_RDONLY | O_DIRECTORY)
}

/// Properties of the file system that contains a file.
package struct Volume: Hashable, Sendable {
    /// Whether other machines or programs can change the file independently of this kernel, as on NFS, SMB and FUSE.
    package var isRemote = false
    /// Whether the volume's files are lost when the machine is turned off.
    package var isInMemory = false
    package var isReadOnly = false
    /// Whether the file system is an overlay, such as a container's writable layer, which is lost with the container.
    package var isOverlay = false

    package init(isRemote: Bool = false, isInMemory: Bool = false, isReadOnly: Bool = false, isOverlay: Bool = false) {
        self.isRemote = isRemote
        self.isInMemory = isInMemory
        self.isReadOnly = isReadOnly
        self.isOverlay = isOverlay
    }
}

package enum LockKind: Hashable, Sendable { case shared, exclusive }

extension FileSystem {
    /// Throws `ENOSYS`. This default suffices if every folder can be opened, and therefore flushed on its own.
    package func synchronizeVolume(of file: borrowing FileDescriptor) throws(SystemError) {
        throw SystemError(ENOSYS, "flush")
    }

    package func status(of file: borrowing FileDescriptor) throws(SystemError) -> FileStatus {
        try status(of: file, withTimes: false)
    }

    package func status(at path: String) throws(SystemError) -> FileStatus { try status(at: path, withTimes: false) }

    /// Opens a file for writing. If that is not permitted, opens it for reading only, and sets `refusal` to the error.
    package func open(
        _ path: String, _ access: FileAccess, orElse reading: FileAccess, refusal: inout SystemError?
    ) throws(SystemError) -> FileDescriptor {
        do throws(SystemError) { return try open(path, access) } catch {
            guard error.isRefused || error.isReadOnly else { throw error }
            refusal = error
        }
        return try open(path, reading)
    }

    /// Creates the folder and its missing parents, but does not flush them; see ``synchronizeFolders(above:)``.
    package func makeFolders(_ path: String) throws(SystemError) {
        let parent = path.parentFolder
        do { try makeFolder(path) } catch {
            guard error.isMissing, parent != path else { throw error }
            try makeFolders(parent)
            try makeFolder(path)
        }
    }

    /// Reads `count` bytes, or fewer if the file ends first.
    package func read(
        _ file: borrowing FileDescriptor, upTo count: Int, at offset: UInt64 = 0
    ) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = try bytes.withMutableRawBytes { (bytes) throws(SystemError) in
            try read(file, into: bytes, at: offset)
        }
        return found == count ? bytes : Array(bytes[..<found])
    }

    package func synchronizeFolder(_ path: String) throws(SystemError) { try synchronize(open(path, .folder)) }

    /// Flushes the directory entries of a folder and of all folders above it that this user is allowed to open. The
    /// process that created the folders may have died or failed before it flushed them.
    package func synchronizeFolders(above path: String) throws(SystemError) {
        for folder in path.foldersAbove {
            do { try synchronizeFolder(folder) } catch {
                guard error.isRefused || error.isUnflushable else { throw error }
            }
        }
    }
}

/// An open file, which is closed when this value is destroyed.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32
    /// The file in a test's simulated file system; nil for a real file, which the kernel has opened.
    private let simulated: (any AnyObject & Sendable)?

    /// Takes ownership of a descriptor that a system call returned, or of -1. If the program was started with stdin,
    /// stdout or stderr closed, the kernel may return 0 to 2. Such a descriptor is duplicated to a higher number, so
    /// that printed output cannot end up in the file. If duplication fails, the number is -1, and errno has the reason.
    package init(owning number: Int32) {
        let isStandard = (STDIN_FILENO...STDERR_FILENO).contains(number)
        self.number = isStandard ? fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : number
        simulated = nil
        if isStandard { close(number) }
    }

    /// Creates the descriptor of a simulated file, open until `file` is released. The kernel does not know `number`.
    package init(simulated file: any AnyObject & Sendable, number: Int32) {
        self.number = number
        simulated = file
    }

    deinit { if simulated == nil, number >= 0 { close(number) } }
}

package struct FileStatus: Hashable, Sendable {
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64

        package init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    package let identity: Identity
    package let size: UInt64
    /// The times of the last change of the contents (mtime), and of any property (ctime), in nanoseconds since 1970.
    /// They advance in steps of a few milliseconds, and are 0 unless they were requested.
    package let contentsChanged: Int64
    package let changed: Int64
    /// The file's permission bits, as in chmod(2).
    package let mode: UInt32
    package let owner: UInt32
    package let group: UInt32
    package let links: UInt64
    package let isRegularFile: Bool
    package let isDirectory: Bool

    package init(
        identity: Identity, size: UInt64, contentsChanged: Int64, changed: Int64, mode: UInt32, owner: UInt32,
        group: UInt32, links: UInt64, isRegularFile: Bool, isDirectory: Bool
    ) {
        self.identity = identity
        self.size = size
        self.contentsChanged = contentsChanged
        self.changed = changed
        self.mode = mode
        self.owner = owner
        self.group = group
        self.links = links
        self.isRegularFile = isRegularFile
        self.isDirectory = isDirectory
    }

    /// The kind of a file that is not regular, as a sentence fragment.
    package var kind: String { isDirectory ? "a folder" : "a named pipe, a socket or a device" }
}

package struct SystemError: Error, Hashable, Sendable {
    /// The value of `errno`.
    package let number: Int32
    /// The action that failed, in a form that follows "Cannot" in a message, for example "read" or "rename".
    package let call: String

    package init(_ number: Int32, _ call: String) {
        self.number = number
        self.call = call
    }

    package var isMissing: Bool { number == ENOENT }
    package var isNameTooLong: Bool { number == ENAMETOOLONG }
    package var isExisting: Bool { number == EEXIST }
    package var isRefused: Bool { number == EACCES || number == EPERM }
    package var isReadOnly: Bool { number == EROFS }
    /// Whether flushing is impossible, because the file system is read-only or does not support it.
    package var isUnflushable: Bool { isReadOnly || number == EINVAL }
    /// Whether the call failed because another process held a lock for too long.
    package var isBusy: Bool { number == EWOULDBLOCK }
    package var isTooLarge: Bool { number == EFBIG }
    /// Returns whether the error number means that descriptors, memory or disk space have run out.
    package static func isShortage(_ number: Int32?) -> Bool {
        number.map([EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC, EDQUOT].contains) ?? false
    }

    /// The kind of object that the call found instead of a regular file, as a sentence fragment; nil for other errors.
    package var kindOfNoFile: String? {
        switch number {
        case EISDIR: "a folder"
        case EINVAL: "a named pipe, a socket or a device"
        default: nil
        }
    }

    package static func message(for number: Int32) -> String {
        // strerror(3) has been thread-safe since glibc 2.32.
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }

    package static func advice(for number: Int32) -> String? {
        switch number {
        case ENOSPC, EDQUOT: "Nothing was changed; free some space and try again."
        case EROFS: "Nothing was changed; the file system is mounted read-only."
        case EACCES, EPERM: "Check the owner and mode of the file and of its folder."
        case EIO: "Check the disk."
        case EMFILE: "Raise the limit on open files (`ulimit -n`), and try again."
        default: nil
        }
    }
}

/// Returns the result of a call, or nil if the call fails because a file or folder does not exist.
package func unlessMissing<Result: ~Copyable>(
    _ call: @autoclosure () throws(SystemError) -> Result
) throws(SystemError) -> Result? {
    do { return try call() } catch {
        guard error.isMissing else { throw error }
        return nil
    }
}

extension FileStatus {
    /// Throws an error whose ``SystemError/kindOfNoFile`` names the object's kind if this is not a regular file. If the
    /// file has more than `limit` bytes, throws an error whose ``SystemError/isTooLarge`` is true.
    package func checkRegular(upTo limit: UInt64 = .max) throws(SystemError) {
        guard isRegularFile else { throw SystemError(isDirectory ? EISDIR : EINVAL, "read") }
        guard size <= limit else { throw SystemError(EFBIG, "read") }
    }
}
