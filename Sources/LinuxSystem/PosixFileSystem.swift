private import CLinux
private import Glibc

package struct PosixFileSystem: FileSystem {
    package init() {}

    package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor {
        // O_NONBLOCK has no effect on files. Without it, a named pipe in place of a file would make the call wait.
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
        // The kernel would write up to the limit, which may be in the middle of a record, and then send SIGXFSZ.
        guard offset + UInt64(bytes.count) <= vault_file_size_limit() else { throw SystemError(EFBIG, "write") }
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = uninterrupted { pwrite(file.number, rest.baseAddress, rest.count, Int(offset) + done) }
            // At a full disk, the kernel writes only some bytes. The next call then reports the reason.
            if count >= 0 { done += count } else { throw SystemError(errno, "write") }
        }
    }

    package func nextData(_ file: borrowing FileDescriptor, from offset: UInt64) throws(SystemError) -> UInt64? {
        let found = uninterrupted { vault_next_data(file.number, Int64(clamping: offset)) }
        if found >= 0 { return UInt64(found) }
        if errno == ENXIO { return nil }
        // Some file systems do not report holes.
        guard errno == EINVAL || errno == EOPNOTSUPP else { throw SystemError(errno, "scan") }
        return offset
    }

    package func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError) {
        try flush(file, fdatasync)
    }

    package func synchronize(_ file: borrowing FileDescriptor) throws(SystemError) {
        try flush(file, fsync)
    }

    package func synchronizeVolume(of file: borrowing FileDescriptor) throws(SystemError) {
        try flush(file, vault_synchronize_file_system)
    }

    /// Repeats a flush that a signal interrupts. The kernel continues it in any case; the next call only waits for it.
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
        // These are numbers of statfs(2): NFS, FUSE, CIFS, SMB2; tmpfs, ramfs; overlayfs.
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

/// Repeats a system call while signals interrupt it, which can happen on network file systems and FUSE. Every call here
/// goes through this.
private func uninterrupted<Result: FixedWidthInteger & SignedInteger>(_ call: () -> Result) -> Result {
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

// MARK: - Paths

/// Returns the absolute path with every symbolic link resolved. If there is no file yet, this is the path at which one
/// would be created. The folders on the way need not exist.
package func resolvedPath(_ path: String) -> String {
    // 40 is the system's own limit.
    if path.utf8.first == UInt8(ascii: "/") { return resolvedPath(path, links: 40) }
    return realPath(".").map { resolvedPath($0 + "/" + path, links: 40) } ?? path
}

/// Returns the absolute path. The symbolic links of the current folder are resolved, but not those in `path`.
package func absolutePath(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : resolvedPath(".") + "/" + path
}

/// Returns the resolved path; `links` is the number of dangling links that may still be followed.
private func resolvedPath(_ path: String, links: Int) -> String {
    if let whole = realPath(path) { return whole }
    let (parent, name) = (path.parentFolder, path.lastPathComponent)
    guard parent != path else { return path }
    let folder = resolvedPath(parent, links: links)
    if name.isEmpty || name == "." { return folder }
    // The folder before the two dots does not exist. It will be a folder, not a link.
    if name == ".." { return folder.parentFolder }
    let resolved = folder == "/" ? "/" + name : folder + "/" + name
    // This is a dangling link: a new file is created at its target, and does not replace the link.
    guard links > 0, let target = target(ofLink: resolved) else { return resolved }
    return resolvedPath(target.isAbsolutePath ? target : folder + "/" + target, links: links - 1)
}

private func realPath(_ path: String) -> String? {
    var found = realpath(path, nil)
    while found == nil, errno == EINTR { found = realpath(path, nil) }
    guard let resolved = found else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

func target(ofLink path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = uninterrupted { readlink(path, &bytes, Int(PATH_MAX)) }
    return count > 0 ? String(validating: bytes[..<count], as: UTF8.self) : nil
}

// Paths are split by bytes: a combining mark after a slash forms one character with it.
extension String {
    /// The folder of the file at this path; "/" for the root, "." for a bare name.
    package var parentFolder: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    package var isAbsolutePath: Bool { utf8.first == UInt8(ascii: "/") }

    package var lastPathComponent: String {
        utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[utf8.index(after: $0)...]) } ?? self
    }

    /// The folders above the file at this path, from the nearest to the root.
    var foldersAbove: some Sequence<String> {
        sequence(first: self) { $0.parentFolder == $0 ? nil : $0.parentFolder }.dropFirst()
    }
}

// MARK: - Time

/// The system's clocks, in nanoseconds.
package enum Clock {
    /// The time since 1970.
    package static var realTime: Int64 { now(CLOCK_REALTIME) }
    /// The milliseconds since 1970, even if the clock is wrong by centuries.
    package static var milliseconds: UInt64 { time(CLOCK_REALTIME).milliseconds }
    /// The time since the machine started, except for the time in which it was suspended, in steps of some milliseconds.
    /// Reading it costs almost nothing.
    package static var coarse: Int64 { now(CLOCK_MONOTONIC_COARSE) }

    private static func now(_ clock: clockid_t) -> Int64 { time(clock).nanoseconds }

    private static func time(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }

    package static func sleep(microseconds: UInt32) { usleep(microseconds) }

    /// Sleeps by a clock that continues while the machine is suspended.
    package static func sleep(secondsWithSuspension seconds: Int) {
        var end = timespec()
        clock_gettime(CLOCK_BOOTTIME, &end)
        end.tv_sec += seconds
        while clock_nanosleep(CLOCK_BOOTTIME, Int32(TIMER_ABSTIME), &end, nil) == EINTR {}
    }
}

extension timespec {
    /// The time in nanoseconds. A file system may report times past the year 2262, which wrap around; they are only
    /// compared.
    var nanoseconds: Int64 { Int64(tv_sec) &* 1_000_000_000 &+ Int64(tv_nsec) }

    /// The time in milliseconds: 0 before 1970, and the largest number if it overflows.
    fileprivate var milliseconds: UInt64 {
        let (seconds, overflows) = UInt64(max(tv_sec, 0)).multipliedReportingOverflow(by: 1_000)
        let (sum, isBeyond) = seconds.addingReportingOverflow(UInt64(max(tv_nsec, 0)) / 1_000_000)
        return overflows || isBeyond ? .max : tv_sec < 0 ? 0 : sum
    }
}

// MARK: - The bytes of arrays

// The standard library's `withUnsafeBytes` of arrays loses the type of its closure's error. These functions are
// inlinable, as are those for the bytes of secrets in Sealing: a generic function of another module would look its
// types up at run time.

extension ArraySlice<UInt8> {
    @inlinable
    package func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.bytes.withUnsafeBytes(body)
    }
}

extension [UInt8] {
    @inlinable
    package func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.bytes.withUnsafeBytes(body)
    }

    @inlinable
    package mutating func withMutableRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var span = mutableSpan
        return try span.withUnsafeMutableBytes(body)
    }
}
