private import CLinux
private import Glibc

package struct PosixFileSystem: FileSystem {
    package init() {}

    package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor {
        // O_NONBLOCK has no effect on regular files. Without it, opening a named pipe would wait for the other end.
        let flags = access.flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let file = FileDescriptor(owning: uninterrupted { Glibc.open(path, flags, 0o600) })
        guard file.number >= 0 else { throw SystemError(errno, access.flags & O_CREAT == 0 ? "open" : "create") }
        return file
    }

    package func read(
        _ file: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = uninterrupted { pread(file.number, rest.baseAddress, rest.count, Int(offset) + done) }
            if count == 0 { break }
            if count > 0 { done += count } else { throw SystemError(errno, "read") }
        }
        return done
    }

    package func write(
        _ file: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(SystemError) {
        // Above the process's file size limit, the kernel would write part of a record and then send SIGXFSZ.
        guard offset + UInt64(bytes.count) <= vault_file_size_limit() else { throw SystemError(EFBIG, "write") }
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = uninterrupted { pwrite(file.number, rest.baseAddress, rest.count, Int(offset) + done) }
            // On a full disk, the kernel writes some of the bytes, and the next call reports the reason.
            if count >= 0 { done += count } else { throw SystemError(errno, "write") }
        }
    }

    package func nextData(_ file: borrowing FileDescriptor, from offset: UInt64) throws(SystemError) -> UInt64? {
        let found = uninterrupted { vault_next_data(file.number, Int64(clamping: offset)) }
        if found >= 0 { return UInt64(found) }
        if errno == ENXIO { return nil }
        // Some file systems do not report holes, so the bytes at `offset` count as data.
        guard errno == EINVAL || errno == EOPNOTSUPP else { throw SystemError(errno, "scan") }
        return offset
    }

    package func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError) { try flush(file, fdatasync) }

    package func synchronize(_ file: borrowing FileDescriptor) throws(SystemError) { try flush(file, fsync) }

    package func synchronizeVolume(of file: borrowing FileDescriptor) throws(SystemError) {
        try flush(file, vault_synchronize_file_system)
    }

    /// Flushes a file. A call that a signal interrupts is repeated; the kernel continues the flush in the meantime.
    private func flush(_ file: borrowing FileDescriptor, _ call: (Int32) -> Int32) throws(SystemError) {
        try check(call(file.number), "flush")
    }

    package func tryLock(_ file: borrowing FileDescriptor, _ kind: LockKind) throws(SystemError) -> Bool {
        if uninterrupted({ flock(file.number, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) }) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw SystemError(errno, "lock") }
        return false
    }

    package func unlock(_ file: borrowing FileDescriptor) { _ = flock(file.number, LOCK_UN) }

    package func volume(of file: borrowing FileDescriptor) -> Volume {
        var isReadOnly: Int32 = 0
        let type = uninterrupted { vault_file_system_type(file.number, &isReadOnly) }
        // These numbers identify file systems (see statfs(2)): NFS, FUSE, CIFS and SMB2; tmpfs and ramfs; overlayfs.
        return Volume(
            isRemote: [0x6969, 0x6573_5546, 0xFF53_4D42, 0xFE53_4D42].contains(type),
            isInMemory: [0x0102_1994, 0x8584_58F6].contains(type), isReadOnly: isReadOnly != 0,
            isOverlay: type == 0x794C_7630)
    }

    package func status(of file: borrowing FileDescriptor, withTimes: Bool) throws(SystemError) -> FileStatus {
        var status = vault_status()
        try check(vault_get_status(file.number, "", withTimes ? 1 : 0, &status), "inspect")
        return FileStatus(status)
    }

    package func status(at path: String, withTimes: Bool) throws(SystemError) -> FileStatus {
        var status = vault_status()
        try check(vault_get_status(-1, path, withTimes ? 1 : 0, &status), "inspect")
        return FileStatus(status)
    }

    package func setMode(_ file: borrowing FileDescriptor, _ mode: UInt32) throws(SystemError) {
        try check(fchmod(file.number, mode), "set the mode of")
    }

    package func setOwner(_ file: borrowing FileDescriptor, owner: UInt32, group: UInt32) throws(SystemError) {
        try check(fchown(file.number, owner, group), "set the owner of")
    }

    package func rename(_ path: String, to newPath: String, replacing: Bool) throws(SystemError) {
        try check(replacing ? Glibc.rename(path, newPath) : vault_rename_exclusively(path, newPath), "rename")
    }

    package func remove(_ path: String) throws(SystemError) { try check(unlink(path), "remove") }

    package func makeFolder(_ path: String) throws(SystemError) {
        if uninterrupted({ mkdir(path, 0o700) }) != 0, errno != EEXIST { throw SystemError(errno, "create the folder") }
    }

    private func check(_ call: @autoclosure () -> Int32, _ name: String) throws(SystemError) {
        if uninterrupted(call) != 0 { throw SystemError(errno, name) }
    }
}

/// Repeats a system call while signals interrupt it, as can happen on network file systems and FUSE.
func uninterrupted<Result: FixedWidthInteger & SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

extension FileStatus {
    fileprivate init(_ status: vault_status) {
        self.init(
            identity: Identity(device: status.device, inode: status.inode), size: status.size,
            contentsChanged: status.contents_changed, changed: status.changed, mode: status.mode & 0o7777,
            owner: status.owner, group: status.group, links: UInt64(status.links),
            isRegularFile: status.mode & S_IFMT == S_IFREG, isDirectory: status.mode & S_IFMT == S_IFDIR)
    }
}
