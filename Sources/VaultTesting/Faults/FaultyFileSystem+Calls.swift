package import LinuxSystem

extension FaultyFileSystem {
    package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor {
        let file = try make(FileCallRecord(kind: .open, path: path)) { (real) throws(SystemError) in
            try real.open(path, access)
        }
        noteOpened(file.number, path)
        return file
    }

    package func read(
        _ file: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int {
        let call = FileCallRecord(kind: .read, path: path(of: file.number), offset: offset, count: buffer.count)
        return try make(call) { (real) throws(SystemError) in try real.read(file, into: buffer, at: offset) }
    }

    package func write(
        _ file: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(SystemError) {
        let call = FileCallRecord(kind: .write, path: path(of: file.number), offset: offset, count: bytes.count)
        try write(call, file, bytes)
    }

    package func nextData(
        _ file: borrowing FileDescriptor, from offset: UInt64
    ) throws(SystemError) -> UInt64? {
        let call = FileCallRecord(kind: .read, path: path(of: file.number), offset: offset)
        return try make(call) { (real) throws(SystemError) in try real.nextData(file, from: offset) }
    }

    package func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError) {
        try make(call(.synchronizeData, file)) { (real) throws(SystemError) in try real.synchronizeData(file) }
    }

    package func synchronize(_ file: borrowing FileDescriptor) throws(SystemError) {
        try make(call(.synchronize, file)) { (real) throws(SystemError) in try real.synchronize(file) }
    }

    package func tryLock(_ file: borrowing FileDescriptor, _ kind: LockKind) throws(SystemError) -> Bool {
        try make(call(.lock, file)) { (real) throws(SystemError) in try real.tryLock(file, kind) }
    }

    package func unlock(_ file: borrowing FileDescriptor) {
        PosixFileSystem().unlock(file)
    }

    package func status(of file: borrowing FileDescriptor) throws(SystemError) -> FileStatus {
        try make(call(.status, file)) { (real) throws(SystemError) in try real.status(of: file) }
    }

    package func status(at path: String) throws(SystemError) -> FileStatus {
        try make(FileCallRecord(kind: .status, path: path)) { (real) throws(SystemError) in try real.status(at: path) }
    }

    package func setMode(_ file: borrowing FileDescriptor, _ mode: UInt32) throws(SystemError) {
        try make(call(.setMode, file)) { (real) throws(SystemError) in try real.setMode(file, mode) }
    }

    package func setOwner(_ file: borrowing FileDescriptor, owner: UInt32, group: UInt32) throws(SystemError) {
        try make(call(.setOwner, file)) { (real) throws(SystemError) in
            try real.setOwner(file, owner: owner, group: group)
        }
    }

    package func rename(_ path: String, to newPath: String, replacing: Bool) throws(SystemError) {
        try make(FileCallRecord(kind: .rename, path: newPath)) { (real) throws(SystemError) in
            try real.rename(path, to: newPath, replacing: replacing)
        }
    }

    package func remove(_ path: String) throws(SystemError) {
        try make(FileCallRecord(kind: .remove, path: path)) { (real) throws(SystemError) in try real.remove(path) }
    }

    package func makeFolder(_ path: String) throws(SystemError) -> Bool {
        try make(FileCallRecord(kind: .makeFolder, path: path)) { (real) throws(SystemError) in
            try real.makeFolder(path)
        }
    }

    private func call(_ kind: FileCall, _ file: borrowing FileDescriptor) -> FileCallRecord {
        FileCallRecord(kind: kind, path: path(of: file.number))
    }
}
