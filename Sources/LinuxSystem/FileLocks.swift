private import Glibc

/// The exclusive lock of a folder, held while a file is created or replaced in it, until this value is released.
package struct FolderLock: ~Copyable, Sendable {
    private let folder: FileDescriptor

    /// Creates the folder if it is missing, and waits for its lock.
    ///
    /// - Throws: an error that ``SystemError/isBusy`` if another process holds the lock until the deadline.
    package static func acquire(
        _ path: String, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(SystemError) -> FolderLock {
        try fileSystem.makeFolders(path)
        let folder = try fileSystem.open(path, .folder)
        try fileSystem.lock(folder, .exclusive, until: deadline)
        return FolderLock(folder: folder)
    }

    /// Flushes the folder's list of names.
    package borrowing func synchronizeFolder(in fileSystem: any FileSystem) throws(SystemError) {
        try fileSystem.synchronize(folder)
    }

    /// Releases the lock by closing the folder.
    package consuming func release() {}
}

extension FileSystem {
    /// Waits for the lock of a file.
    ///
    /// - Throws: an error that ``SystemError/isBusy`` if another process holds the lock until the deadline.
    package func lock(
        _ file: borrowing FileDescriptor, _ kind: LockKind, until deadline: Deadline
    ) throws(SystemError) {
        let isLocked = try deadline.poll { () throws(SystemError) in try tryLock(file, kind) }
        guard isLocked else { throw SystemError(EWOULDBLOCK, "lock") }
    }
}

/// Finds out which process holds the lock of a file.
package enum LockHolder {
    /// The id of the process; nil if /proc/locks does not show it: it runs in another namespace or on another machine.
    package static func process(holding path: String, in fileSystem: any FileSystem = PosixFileSystem()) -> Int? {
        guard let identity = try? fileSystem.status(at: path).identity,
            let locks = contents(of: "/proc/locks", fileSystem)
        else { return nil }
        // As gnu_dev_major(3) takes a device's number apart.
        let major = identity.device >> 8 & 0xfff | identity.device >> 32 & ~0xfff
        let minor = identity.device & 0xff | identity.device >> 12 & ~0xff
        for line in locks.split(separator: "\n") {
            // 1: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", let process = Int(fields[4]), process != getpid() else {
                continue
            }
            let file = fields[5].split(separator: ":")
            guard file.count == 3, UInt64(file[0], radix: 16) == major, UInt64(file[1], radix: 16) == minor,
                UInt64(file[2]) == identity.inode
            else { continue }
            return process
        }
        return nil
    }

    private static func contents(of path: String, _ fileSystem: any FileSystem) -> String? {
        guard let file = try? fileSystem.open(path, .read) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = try? bytes.withUnsafeMutableBytes { (bytes) throws(SystemError) in
            try fileSystem.read(file, into: bytes, at: 0)
        }
        return count.map { String(decoding: bytes[..<$0], as: UTF8.self) }
    }
}
