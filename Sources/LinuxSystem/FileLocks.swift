private import CLinux
private import Glibc

/// The exclusive lock of a folder in which a file is created or replaced. It is held until this value is released.
package struct FolderLock: ~Copyable, Sendable {
    private let folder: FileDescriptor

    /// Creates a file's folder if it is missing, and acquires the folder's lock as ``FileSystem/lock(_:_:until:)``
    /// does. If the file does not exist yet, also flushes the directory entries of the folders above it. So if the file
    /// exists, the folders above it are already durable.
    package static func acquire(
        ofFile path: String, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(SystemError) -> FolderLock {
        try fileSystem.makeFolders(path.parentFolder)
        let folder = try fileSystem.open(path.parentFolder, .folder)
        try fileSystem.lock(folder, .exclusive, until: deadline)
        if try unlessMissing(fileSystem.status(at: path)) == nil {
            try fileSystem.synchronizeFolders(above: path.parentFolder)
        }
        return FolderLock(folder: folder)
    }

    package borrowing func synchronizeFolder(in fileSystem: any FileSystem) throws(SystemError) {
        try fileSystem.synchronize(folder)
    }

    /// Releases the lock by closing the folder.
    package consuming func release() {}
}

extension FileSystem {
    /// Waits for a file's lock. Polls at intervals from 50 µs to 5 ms, because only a signal could interrupt a blocking
    /// flock(2), and a library must not send signals. Throws an error with ``SystemError/isBusy`` at the deadline.
    package func lock(
        _ file: borrowing FileDescriptor, _ kind: LockKind, until deadline: Deadline
    ) throws(SystemError) {
        var pause: UInt32 = 50
        while try !tryLock(file, kind) {
            guard !deadline.hasPassed else { throw SystemError(EWOULDBLOCK, "lock") }
            Clock.sleep(microseconds: pause)
            pause = min(pause * 2, 5_000)
        }
    }
}

/// Returns the ID of another process that holds a file's lock; nil if /proc/locks shows none. /proc/locks does not show
/// processes in other namespaces or on other machines.
package func lockHolder(of path: String) -> Int? {
    let files = PosixFileSystem()
    guard let identity = try? files.status(at: path).identity, let locks = try? files.open("/proc/locks", .read),
        let bytes = try? files.read(locks, upTo: 64 << 10)
    else { return nil }
    // The device number is split as gnu_dev_major(3) and gnu_dev_minor(3) do.
    let major = identity.device >> 8 & 0xfff | identity.device >> 32 & ~0xfff
    let minor = identity.device & 0xff | identity.device >> 12 & ~0xff
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
        // A line of /proc/locks looks like this: 1: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF
        let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard fields.count > 5, fields[1] == "FLOCK" else { continue }
        let file = fields[5].split(separator: ":")
        guard file.count == 3, UInt64(file[0], radix: 16) == major, UInt64(file[1], radix: 16) == minor,
            UInt64(file[2]) == identity.inode, let process = Int(fields[4]), process != getpid()
        else { continue }
        return process
    }
    return nil
}

/// An exclusive lock on one byte of a file, so that one file can hold many locks. The byte may be past the file's end.
///
/// The lock belongs to the open file rather than the process, so two locks on a byte also exclude each other within one
/// process. The kernel releases the lock when the open file's last descriptor is closed, or when the process exits.
package final class ByteLock: Sendable {
    private let file: FileDescriptor
    private let offset: Int64

    /// - Parameter file: a file that is open for writing and used only for this lock.
    package init(_ file: consuming FileDescriptor, offset: Int64) {
        self.file = file
        self.offset = offset
    }

    package func tryLock() throws(SystemError) -> Bool {
        while vault_lock_byte(file.number, offset, F_WRLCK, 0) != 0 {
            if errno == EAGAIN || errno == EACCES { return false }
            if errno != EINTR { throw SystemError(errno, "lock") }
        }
        return true
    }
}
