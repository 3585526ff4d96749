private import Glibc
package import LinuxSystem
import Sealing

extension KeyFile {
    /// Reads a key file.
    ///
    /// - Parameters:
    ///   - secretFolders: folders below which root's files may be readable by others, as systemd and Docker make them.
    ///   - acceptsShared: whether root's files may be so everywhere.
    /// - Throws: `keyMissing`, `keyUnreadable`, `keyExposed`, `keyDamaged`, `keyUnsuitable`, `outOfMemory`.
    package static func read(
        _ path: String, secretFolders: [String], acceptsShared: Bool = false, in fileSystem: any FileSystem
    ) throws(LogError) -> KeyFile {
        let file = try open(path, in: fileSystem)
        // Of the opened file: a path may lead elsewhere by the time that it is looked at.
        let status = try status(of: file, path, in: fileSystem)
        var sharing: Sharing?
        if !isPrivate(status) {
            guard isRootsForReading(status) else { throw LogError(.keyExposed, path) }
            sharing = reason(toTrust: file, status, path, secretFolders, in: fileSystem)
            if sharing == nil, acceptsShared { sharing = .accepted }
            guard sharing != nil else { throw LogError(.keyShared, path) }
        }
        let text = try contents(of: file, path, size: Int(status.size), in: fileSystem)
        do throws(LogError) {
            var key = try parse(text)
            key.sharing = sharing
            return key
        } catch {
            guard error.code == .keyDamaged || error.code == .keyUnsuitable else { throw error }
            throw LogError(error.code, "\(path) \(error.detail)")
        }
    }

    // MARK: Whose it is

    /// Whether only its owner, this user or root, can read or change the file.
    private static func isPrivate(_ status: FileStatus) -> Bool {
        let user = geteuid()
        return (status.owner == user || status.owner == 0 || user == 0) && status.mode & 0o077 == 0
    }

    /// Whether the file is root's, and others can read it, but not change it.
    private static func isRootsForReading(_ status: FileStatus) -> Bool {
        status.owner == 0 && status.mode & 0o022 == 0
    }

    /// Why a file of root's that others can read serves all the same; nil if it does not. Where it does, it lies below
    /// folders that no other user can write.
    private static func reason(
        toTrust file: borrowing FileDescriptor, _ status: FileStatus, _ path: String, _ secretFolders: [String],
        in fileSystem: any FileSystem
    ) -> Sharing? {
        // Where the file really is, whatever symbolic links led to it. Without /proc a descriptor does not tell: so the
        // file at the resolved path has to be the one that was opened.
        let resolved = resolvedPath(path)
        // Others know what it holds: one of them may have led us to just that file.
        guard isOutOfReach(path), isOutOfReach(resolved) else { return nil }
        if (try? fileSystem.status(at: resolved))?.identity == status.identity,
            secretFolders.contains(where: { resolved.hasPrefix(resolvedPath($0) + "/") })
        {
            return .secretFolder
        }
        let volume = fileSystem.volume(of: file)
        if volume.isInMemory { return .inMemory }
        return volume.isReadOnly ? .readOnly : nil
    }

    /// Whether nobody but root and this user can have put there what a path leads through.
    private static func isOutOfReach(_ path: String) -> Bool {
        let absolute = path.hasPrefix("/") ? path : resolvedPath(".") + "/" + path
        let components = absolute.split(separator: "/")
        return components.indices.allSatisfy { index in
            let part = "/" + components[...index].joined(separator: "/")
            var (link, target) = (stat(), stat())
            guard lstat(part, &link) == 0, stat(part, &target) == 0 else { return false }
            let isOurs = [link, target].allSatisfy { $0.st_uid == 0 || $0.st_uid == geteuid() }
            // In a sticky folder others can add files, but not replace ours.
            let isOpen =
                target.st_mode & S_IFMT == S_IFDIR && target.st_mode & 0o022 != 0 && target.st_mode & S_ISVTX == 0
            return isOurs && !isOpen
        }
    }

    // MARK: Its bytes

    private static func open(_ path: String, in fileSystem: any FileSystem) throws(LogError) -> FileDescriptor {
        do { return try fileSystem.open(path, .read) } catch {
            guard error.isMissing else { throw LogError(.keyUnreadable, path, systemError: error.number) }
            throw LogError(.keyMissing, path)
        }
    }

    private static func status(
        of file: borrowing FileDescriptor, _ path: String, in fileSystem: any FileSystem
    ) throws(LogError) -> FileStatus {
        do throws(SystemError) {
            let status = try fileSystem.status(of: file)
            guard status.isRegularFile else { throw SystemError(status.isDirectory ? EISDIR : EINVAL, "read") }
            guard status.size <= maximumSize else { throw SystemError(EFBIG, "read") }
            return status
        } catch { throw LogError(.keyUnreadable, path, systemError: error.number) }
    }

    /// The file's bytes as ``parse(_:)`` takes them.
    private static func contents(
        of file: borrowing FileDescriptor, _ path: String, size: Int, in fileSystem: any FileSystem
    ) throws(LogError) -> SecretBytes {
        var memory: SecretBytes
        do throws(SealingError) { memory = try SecretBytes(zeroCount: parsingRoom + size) } catch {
            throw LogError(error)
        }
        do throws(SystemError) {
            let count = try memory.withUnsafeMutableBytes { (memory) throws(SystemError) in
                try fileSystem.read(file, into: UnsafeMutableRawBufferPointer(rebasing: memory[parsingRoom...]), at: 0)
            }
            memory.truncate(to: parsingRoom + count)
        } catch { throw LogError(.keyUnreadable, path, systemError: error.number) }
        return memory
    }
}
