private import Glibc

// The mutex is the standard library's own.
#if !THREAD_SANITIZER

    @_exported public import Synchronization

#else

    @_exported public import struct Synchronization.Atomic

    /// A mutex that the thread sanitizer can follow. The standard library's mutex uses a futex inside a library that is
    /// not instrumented, so each use of it would be reported as a race.
    ///
    /// The type is Sendable, though unchecked: only `withLock` touches the value, and it holds the lock.
    package final class Mutex<Value: ~Copyable>: @unchecked Sendable {
        private let handle = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        // The value has memory of its own. Stored inline, a value without a size would share its address with its
        // neighbour, and the sanitizer would confuse the two.
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

        package init(_ value: consuming sending Value) {
            self.value.initialize(to: value)
            pthread_mutex_init(handle, nil)
        }

        deinit {
            pthread_mutex_destroy(handle)
            handle.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(handle)
            defer { pthread_mutex_unlock(handle) }
            return try body(&value.pointee)
        }

        package func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(handle) == 0 else { return nil }
            defer { pthread_mutex_unlock(handle) }
            return try body(&value.pointee)
        }
    }

#endif

// MARK: - Locks between processes

/// The exclusive lock of a folder, held while a file is created or replaced in it, until this value is released.
package struct FolderLock: ~Copyable, Sendable {
    private let folder: FileDescriptor

    /// Creates a file's folder if it is missing, and waits for its lock as ``FileSystem/lock(_:_:until:)`` does. If the
    /// file does not exist yet, the names of the folders above it are flushed too: so the existence of a file proves
    /// that its folders are durable.
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

    /// Releases the lock, by closing the folder.
    package consuming func release() {}
}

extension FileSystem {
    /// Waits for the lock of a file. It polls at growing intervals, from 50 µs to 5 ms: only a signal could end a
    /// waiting flock(2), and a library must not send one. Throws an error that ``SystemError/isBusy`` at the deadline.
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

/// Returns the id of the process that holds the lock of a file; nil if /proc/locks does not show it, since it runs in
/// another namespace or on another machine.
package func lockHolder(of path: String) -> Int? {
    let files = PosixFileSystem()
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    guard let identity = try? files.status(at: path).identity, let locks = try? files.open("/proc/locks", .read),
        let count = try? bytes.withUnsafeMutableBytes({ try files.read(locks, into: $0, at: 0) })
    else { return nil }
    // The device number is split as by gnu_dev_major(3) and gnu_dev_minor(3).
    let major = identity.device >> 8 & 0xfff | identity.device >> 32 & ~0xfff
    let minor = identity.device & 0xff | identity.device >> 12 & ~0xff
    for line in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n") {
        // 1: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF
        let fields = line.split(separator: " ")
        guard fields.count > 5, fields[1] == "FLOCK" else { continue }
        let file = fields[5].split(separator: ":")
        guard file.count == 3, UInt64(file[0], radix: 16) == major, UInt64(file[1], radix: 16) == minor,
            UInt64(file[2]) == identity.inode, let process = Int(fields[4]), process != getpid()
        else { continue }
        return process
    }
    return nil
}
