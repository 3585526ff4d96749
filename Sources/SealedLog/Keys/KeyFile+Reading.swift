private import Glibc
import Sealing

extension KeyFile {
    /// Reads a key file.
    ///
    /// - Parameter secretFolders: folders below which root's files may be readable by others, as systemd and Docker make
    ///   them; see ``isProtected``.
    /// - Throws: `keyMissing`, `keyUnreadable`, `keyExposed`, `keyDamaged`, `outOfMemory`.
    package static func read(
        _ path: String, secretFolders: [String], in fileSystem: any FileSystem
    ) throws(LogError) -> KeyFile {
        let file: FileDescriptor
        do { file = try fileSystem.open(path, .read) } catch {
            guard error.isMissing else { throw LogError(.keyUnreadable, path, systemError: error.number) }
            throw LogError(.keyMissing, path)
        }
        let text: SecretBytes
        do throws(SystemError) {
            // Of the opened file: a path may lead elsewhere by the time that it is looked at.
            let status = try fileSystem.status(of: file)
            guard status.isRegularFile else { throw SystemError(status.isDirectory ? EISDIR : EINVAL, "read") }
            guard isProtected(file, status, secretFolders) else { throw SystemError(0, "") }
            guard status.size <= maximumSize else { throw SystemError(EFBIG, "read") }
            text = try contents(of: file, size: Int(status.size), in: fileSystem)
        } catch {
            throw error.number == 0
                ? LogError(.keyExposed, path) : LogError(.keyUnreadable, path, systemError: error.number)
        }
        do { return try parse(text) } catch {
            guard error.code == .keyDamaged else { throw error }
            throw LogError(.keyDamaged, "\(path): \(error.detail)")
        }
    }

    /// The file's bytes as ``parse(_:)`` takes them.
    private static func contents(
        of file: borrowing FileDescriptor, size: Int, in fileSystem: any FileSystem
    ) throws(SystemError) -> SecretBytes {
        var memory: SecretBytes
        do { memory = try SecretBytes(zeroCount: parsingRoom + size) } catch { throw SystemError(ENOMEM, "read") }
        let count = try memory.withUnsafeMutableBytes { (memory) throws(SystemError) in
            try fileSystem.read(file, into: UnsafeMutableRawBufferPointer(rebasing: memory[parsingRoom...]), at: 0)
        }
        memory.truncate(to: parsingRoom + count)
        return memory
    }

    /// Whether nobody else can read or change the file: it belongs to this user or to root, and its group and others have no
    /// rights to it. Below a folder of secrets, root's files may be readable by them, never writable.
    private static func isProtected(
        _ file: borrowing FileDescriptor, _ status: FileStatus, _ secretFolders: [String]
    ) -> Bool {
        let user = geteuid()
        guard status.owner == user || status.owner == 0 || user == 0 else { return false }
        if status.mode & 0o077 == 0 { return true }
        guard status.owner == 0, status.mode & 0o022 == 0, let path = realPath(of: file) else { return false }
        return secretFolders.contains { path.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") }
    }

    /// Where the opened file really is, whatever symbolic links led to it.
    private static func realPath(of file: borrowing FileDescriptor) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let base = buffer.baseAddress else { return nil }
            let count = readlink("/proc/self/fd/\(file.number)", base, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return buffer[..<count].withMemoryRebound(to: UInt8.self) { String(validating: $0, as: UTF8.self) }
        }
    }
}
