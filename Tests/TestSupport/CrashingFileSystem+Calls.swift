private import Glibc
package import LinuxSystem

extension CrashingFileSystem {
    package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor {
        let isThere = (try? PosixFileSystem().status(at: path)) != nil
        let file =
            switch access {
            case .create, .readWriteOrCreateNoFollow:
                try change { (real) throws(SystemError) in try real.open(path, access) }
            default:
                try inspect { (real) throws(SystemError) in try real.open(path, access) }
            }
        noteOpened(file, path)
        let identity = try PosixFileSystem().status(of: file).identity
        if !isThere { noteCreated(identity, path) }
        return file
    }

    package func read(
        _ file: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int {
        try inspect { (real) throws(SystemError) in try real.read(file, into: buffer, at: offset) }
    }

    package func nextData(
        _ file: borrowing FileDescriptor, from offset: UInt64
    ) throws(SystemError) -> UInt64? {
        try inspect { (real) throws(SystemError) in try real.nextData(file, from: offset) }
    }

    package func write(
        _ file: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(SystemError) {
        let identity = try PosixFileSystem().status(of: file).identity
        let copy = Array(bytes)
        func begun() { note(identity) { $0.write($1, copy, at: Int(offset)) } }
        try change(begun: begun) { (real) throws(SystemError) in try real.write(file, bytes, at: offset) }
    }

    package func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError) {
        try synchronize(file)
    }

    package func synchronize(_ file: borrowing FileDescriptor) throws(SystemError) {
        // The flush of the model is enough. A real one would cost time and prove nothing.
        let status = try PosixFileSystem().status(of: file)
        try change { (_) throws(SystemError) in }
        guard !takeFailure(ofFolder: status.isDirectory) else {
            if !status.isDirectory { noteFailedFlush(status.identity) }
            throw SystemError(EIO, "flush")
        }
        let path = path(of: file)
        if status.isDirectory { note { $0.flushFolder(path) } } else { note(status.identity) { $0.flush($1) } }
    }

    package func tryLock(_ file: borrowing FileDescriptor, _ kind: LockKind) throws(SystemError) -> Bool {
        try inspect { (real) throws(SystemError) in try real.tryLock(file, kind) }
    }

    package func unlock(_ file: borrowing FileDescriptor) {
        PosixFileSystem().unlock(file)
    }

    package func status(of file: borrowing FileDescriptor, withTimes: Bool) throws(SystemError) -> FileStatus {
        try inspect { (real) throws(SystemError) in try real.status(of: file, withTimes: withTimes) }
    }

    package func status(at path: String, withTimes: Bool) throws(SystemError) -> FileStatus {
        try inspect { (real) throws(SystemError) in try real.status(at: path, withTimes: withTimes) }
    }

    package func setMode(_ file: borrowing FileDescriptor, _ mode: UInt32) throws(SystemError) {
        try inspect { (real) throws(SystemError) in try real.setMode(file, mode) }
    }

    package func setOwner(_ file: borrowing FileDescriptor, owner: UInt32, group: UInt32) throws(SystemError) {
        try inspect { (real) throws(SystemError) in try real.setOwner(file, owner: owner, group: group) }
    }

    package func rename(_ path: String, to newPath: String, replacing: Bool) throws(SystemError) {
        try change { (real) throws(SystemError) in try real.rename(path, to: newPath, replacing: replacing) }
        note { $0.rename(path, to: newPath) }
    }

    package func remove(_ path: String) throws(SystemError) {
        try change { (real) throws(SystemError) in try real.remove(path) }
        note { $0.remove(path) }
    }

    package func volume(of file: borrowing FileDescriptor) -> Volume { Volume() }

    package func makeFolder(_ path: String) throws(SystemError) {
        try change { (real) throws(SystemError) in try real.makeFolder(path) }
        note { $0.makeFolder(path) }
    }
}
