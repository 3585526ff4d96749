private import Glibc
package import LinuxSystem
import Sealing

package struct KeyFile: ~Copyable {
    package enum Kind: UInt8, Sendable {
        /// A file that this project generated: 32 random bytes and a checksum, as text.
        case generated = 1
        /// Any other file. Its bytes are stretched by Argon2id.
        case other = 2
    }

    package let kind: Kind
    /// The reason why others may read the file; nil if only its owner can.
    package let sharing: SecretFile.Sharing?
    /// The 32 random bytes, or all bytes of the file.
    let secret: SecretBytes
    /// Whether the file's comment states that the key is for signing and opens no vault.
    var isOfDevice = false

    static let maximumSize: UInt64 = 1 << 20

    /// Whether an attacker who has the vault may guess the file's bytes, because they are few and were not generated.
    package var isShort: Bool { kind == .other && secret.count < 16 }
}

// MARK: - Creation

extension KeyFile {
    /// Creates a generated key file with mode 0600, and flushes it and its folder. Returns nil if the path already
    /// exists. Throws `unavailable`, `busy`, `outOfMemory`.
    ///
    /// - Parameter isFolderLocked: whether the caller holds the folder's lock. Acquiring it again would block forever.
    package static func create(
        at path: String, isOfDevice: Bool = false, isFolderLocked: Bool, in fileSystem: any FileSystem,
        until deadline: Deadline
    ) throws(LogError) -> KeyFile? {
        guard isFolderLocked else {
            let lock = try FolderLock.acquire(forFile: path, in: fileSystem, until: deadline)
            let key = try create(
                at: path, isOfDevice: isOfDevice, isFolderLocked: true, in: fileSystem, until: deadline)
            lock.release()
            return key
        }
        var key = try generate()
        key.isOfDevice = isOfDevice
        guard try key.write(to: path, in: fileSystem) else { return nil }
        return key
    }

    /// Writes this restored key to a file, as ``create(at:isOfDevice:isFolderLocked:in:until:)`` does. Returns false if
    /// the path already exists.
    package borrowing func store(
        at path: String, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(LogError) -> Bool {
        let lock = try FolderLock.acquire(forFile: path, in: fileSystem, until: deadline)
        let isStored = try write(to: path, in: fileSystem)
        lock.release()
        return isStored
    }

    private borrowing func write(to path: String, in fileSystem: any FileSystem) throws(LogError) -> Bool {
        let text = try text()
        do throws(SystemError) {
            try text.withUnsafeBytes { (text) throws(SystemError) in
                _ = try WholeFile(path, in: fileSystem).replace(with: text, replacing: false)
            }
            try fileSystem.synchronizeFolder(path.parentFolder)
        } catch {
            guard error.isExisting else { throw LogError(error, path) }
            return false
        }
        return true
    }

    /// Flushes an existing key file and its folder. Its creator may have died before doing so, and a power loss would
    /// then lose the key and everything sealed under it. Throws `unavailable`, unless the folder belongs to another
    /// user or cannot be flushed.
    package static func makeDurable(at path: String, in fileSystem: any FileSystem) throws(LogError) {
        let path = resolvedPath(path)
        do throws(SystemError) {
            try fileSystem.synchronize(fileSystem.open(path, .read))
            try fileSystem.synchronizeFolder(path.parentFolder)
        } catch {
            guard error.isRefused || error.isReadOnly || error.number == EINVAL else { throw LogError(error, path) }
        }
    }
}

// MARK: - Reading

extension KeyFile {
    /// Reads a key file with the parameters of ``SecretFile/read(_:upTo:room:secretFolders:acceptsShared:in:)``.
    /// - Parameter isBelieved: whether the file must also be trustworthy, like the key file of a device, which signs.
    /// - Throws: the errors of that method; `keyDamaged`, `keyUnsuitable`; `untrustworthy` if the file must be
    ///   trustworthy but is not.
    package static func read(
        _ path: String, secretFolders: [String], acceptsShared: Bool = false, isBelieved: Bool = false,
        in fileSystem: any FileSystem
    ) throws(LogError) -> KeyFile {
        let file = try SecretFile.read(
            path, upTo: maximumSize, room: parsingRoom, secretFolders: secretFolders, acceptsShared: acceptsShared,
            in: fileSystem)
        if isBelieved, let distrust = file.distrust { throw LogError(.untrustworthy, distrust.reason(of: path)) }
        let sharing = file.sharing
        return try parse(file.takeContents(), of: path, sharing)
    }
}
