import Sealing

// The two files: read whole, written in place under a lock, authenticated.

extension RollbackMemory {
    func read(_ path: String) -> [UInt8]? {
        guard let file = try? fileSystem.open(path, .read) else { return nil }
        return RollbackMemory.contents(of: file, in: fileSystem)
    }

    static func contents(of file: borrowing FileDescriptor, in fileSystem: any FileSystem) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: fileSize, alignment: 8) { buffer in
            guard let count = try? fileSystem.read(file, into: buffer, at: 0) else { return nil }
            return Array(buffer[..<count])
        }
    }

    /// Writes a file if `isNeeded` says so of its present bytes, while nobody else writes it.
    func update(
        _ path: String, magic: [UInt8], context: [UInt8], body: [UInt8], isNeeded: ([UInt8]) -> Bool
    ) throws(SystemError) {
        var bytes = magic + body
        do { bytes += try code(of: bytes, context: context) } catch { return }
        let file = try openForUpdate(path)
        let isLocked = try Deadline(after: .milliseconds(200)).poll { () throws(SystemError) in
            try fileSystem.tryLock(file, .exclusive)
        }
        guard isLocked, isNeeded(RollbackMemory.contents(of: file, in: fileSystem) ?? []) else { return }
        try bytes.withRawBytes { (bytes) throws(SystemError) in try fileSystem.write(file, bytes, at: 0) }
    }

    private func openForUpdate(_ path: String) throws(SystemError) -> FileDescriptor {
        do { return try fileSystem.open(path, .readWriteOrCreate) } catch {
            guard error.isMissing else { throw error }
        }
        try fileSystem.makeFolders(folder)
        return try fileSystem.open(path, .readWriteOrCreate)
    }

    private func code(of bytes: [UInt8], context: [UInt8]) throws(LogError) -> [UInt8] {
        try (bytes + context).withRawBytes { (bytes) throws(LogError) in try keys.authenticate(bytes, for: .memory) }
    }

    /// What stands between the magic and the code, if both hold.
    func authentic(_ bytes: [UInt8], magic: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard bytes.count > magic.count + RollbackMemory.codeSize, bytes.starts(with: magic) else { return nil }
        let checked = Array(bytes.dropLast(RollbackMemory.codeSize))
        guard let code = try? code(of: checked, context: context),
            bytes.suffix(RollbackMemory.codeSize).elementsEqual(code)
        else { return nil }
        return Array(checked.dropFirst(magic.count))
    }
}
