private import Glibc
package import LinuxSystem
package import Sealing

package struct KeyFile: ~Copyable {
    package enum Kind: UInt8, Sendable {
        /// A file that this project generated: 32 random bytes and a checksum, as text.
        case generated = 1
        /// Any other key file. Its bytes are stretched by Argon2id.
        case other = 2
    }

    package let kind: Kind
    /// The reason why the file is accepted although other users can read it; nil if only its owner can read it.
    package let sharing: SecretFile.Sharing?
    /// The 32 random bytes of a generated file, or all bytes of any other file.
    let secret: SecretBytes
    /// Whether the file's comment states that the key is for signing and opens no vault.
    var isOfDevice = false

    static let maximumSize: UInt64 = 1 << 20

    /// Whether the contents are so short that a thief of the vault could guess them. False for a generated file.
    package var isShort: Bool { kind == .other && secret.count < 16 }
}

extension KeyFile {
    /// Creates a generated key file with mode 0600, and flushes it and its folder. Returns nil if the path already
    /// exists. Throws `unavailable`, `busy` or `outOfMemory`.
    ///
    /// - Parameter isFolderLocked: whether the caller holds the folder's lock. Acquiring the lock again would block.
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

    /// Writes this restored key to a file in the same way as ``create(at:isOfDevice:isFolderLocked:in:until:)``.
    /// Returns false if the path already exists.
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

    /// Flushes an existing key file and its folder. Its creator may have died before flushing them, and a power loss
    /// would then lose the key and everything sealed under it. Throws `unavailable` if a flush fails, unless the cause
    /// is a missing permission, a read-only file system, or a folder that cannot be flushed.
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

extension KeyFile {
    /// Reads a key file with the parameters of ``SecretFile/read(_:upTo:room:secretFolders:acceptsShared:in:)``.
    /// - Parameter isBelieved: whether the file must be trustworthy. A device's key file must be, as it signs changes.
    /// - Throws: the errors of `SecretFile.read`; `keyDamaged` or `keyUnsuitable`; `untrustworthy` if the file must be
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

// The contents of a key file; see Format.md, "Generated key file" and "Any other key file".

extension KeyFile {
    private static let prefix = Array("vault-key-1-".utf8)
    private static let family = Array("vault-key-".utf8)
    private static let comment = Array("# vault key file".utf8)
    private static var keySize: Int { SecretBox.keySize }
    private static let checksumSize = 4
    private static let textLimit = 4_096

    /// The number of bytes before the contents. ``parse(_:of:_:)`` writes a key there, to save a second guarded region.
    static let parsingRoom = 48

    /// Parses the contents of a key file.
    /// - Parameter memory: the file's bytes, preceded by ``parsingRoom`` zero bytes.
    /// - Throws: `keyUnsuitable` for a blank file or a vault file; `keyDamaged` for a generated file that was mistyped,
    ///   truncated or changed. Such a file must not be accepted as another kind of key file.
    static func parse(
        _ memory: consuming SecretBytes, of path: String, _ sharing: SecretFile.Sharing?
    ) throws(LogError) -> KeyFile {
        let size = memory.count - parsingRoom
        guard size > 0 else { throw LogError(.keyUnsuitable, "\(path) is empty") }
        let isGenerated = try memory.withUnsafeMutableBytes { (memory) throws(LogError) in
            let text = UnsafeRawBufferPointer(rebasing: memory[parsingRoom...])
            if text.starts(with: Header.magic) { throw LogError(.keyUnsuitable, "\(path) is a vault, not a key file") }
            // Zeros count as blank, since a file whose contents were lost or never written may consist of zeros.
            if text.allSatisfy({ $0 == 0 || $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) }) {
                throw LogError(.keyUnsuitable, "\(path) is blank")
            }
            // A generated file in UTF-16, or with other text on the key's line, must be reported as damaged.
            guard size <= textLimit, contains(text, family) || contains(text, comment) else {
                memory.copyMemory(from: text)
                return false
            }
            guard readKey(in: text, into: UnsafeMutableRawBufferPointer(rebasing: memory[..<parsingRoom])) else {
                let fault = "is a generated key file, but has been mistyped, truncated or altered"
                throw LogError(.keyDamaged, "\(path) \(fault)")
            }
            return true
        }
        memory.truncate(to: isGenerated ? keySize : size)
        return KeyFile(kind: isGenerated ? .generated : .other, sharing: sharing, secret: memory)
    }

    package static func generate() throws(LogError) -> KeyFile {
        var key = try translated(SecretBytes(zeros: keySize, isKey: true))
        key.withUnsafeMutableBytes { RandomBytes.fill($0) }
        return KeyFile(kind: .generated, sharing: nil, secret: key)
    }

    /// Returns the text of a generated key file. Throws `invalid` for another kind of key file.
    package borrowing func text() throws(LogError) -> SecretBytes {
        guard kind == .generated else { throw LogError(.invalid, "only a generated key file can be written as text") }
        let heading = isOfDevice ? KeyFile.deviceHeading : KeyFile.heading
        let summed = try translated(secret.following(KeyFile.prefix))
        let sum = try translated(
            summed.withUnsafeBytes { (input) throws(SealingError) in try KeyFile.checksum(of: input) })
        return try translated(secret.line(after: heading + String(decoding: KeyFile.prefix, as: UTF8.self), sum))
    }

    private static let heading =
        "# vault key file: anyone who has it can open the vault; without it the vault is lost. Keep a backup.\n"
    private static let deviceHeading =
        "# vault key file of this machine: it signs what is written here, and opens nothing. Never copy it.\n"

    /// Returns the checksum of `input`, which is the prefix followed by the key.
    private static func checksum(of input: UnsafeRawBufferPointer) throws(SealingError) -> [UInt8] {
        Array(try KeyedHash.hash(input)[..<checksumSize])
    }

    /// Returns whether the text contains `letters`, ignoring case and zero bytes.
    private static func contains(_ text: UnsafeRawBufferPointer, _ letters: [UInt8]) -> Bool {
        text.indices.contains { text[$0...].lazy.filter { $0 != 0 }.starts(with: letters, by: isSameLetter) }
    }

    /// Parses the key's line, and writes the key's 32 bytes to the start of `room`. Returns false if it is invalid.
    private static func readKey(in text: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer) -> Bool {
        let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            .filter { $0.first != UInt8(ascii: "#") }
        let keyEnd = prefix.count + keySize * 2
        guard lines.count == 1, let line = lines.first.map(UnsafeRawBufferPointer.init(rebasing:)),
            line.count == keyEnd + 1 + checksumSize * 2, line.starts(with: prefix, by: isSameLetter),
            line[keyEnd] == UInt8(ascii: "-")
        else { return false }
        let input = UnsafeMutableRawBufferPointer(rebasing: room[..<(prefix.count + keySize)])
        let key = UnsafeMutableRawBufferPointer(rebasing: input[prefix.count...])
        let keyDigits = UnsafeRawBufferPointer(rebasing: line[prefix.count..<keyEnd])
        let sumDigits = UnsafeRawBufferPointer(rebasing: line[(keyEnd + 1)...])
        var written = [UInt8](repeating: 0, count: checksumSize)
        guard Hexadecimal.decode(keyDigits, into: key),
            written.withMutableRawBytes({ Hexadecimal.decode(sumDigits, into: $0) })
        else { return false }
        input.copyBytes(from: prefix)
        guard (try? checksum(of: UnsafeRawBufferPointer(input))) == written else { return false }
        room.copyMemory(from: UnsafeRawBufferPointer(key))
        return true
    }

    private static func isSameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
        ((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(left) ? left | 0x20 : left) == right
    }

    /// Parses the contents of a key file. Error messages begin with `source`, the origin of the contents.
    /// - Throws: the same errors as ``parse(_:of:_:)``; `keyUnsuitable` for more than 1 MiB.
    package static func parse(_ contents: borrowing SecretBytes, from source: String) throws(LogError) -> KeyFile {
        guard contents.count <= maximumSize else { throw LogError(.keyUnsuitable, "\(source) is larger than 1 MiB") }
        let memory = try translated(contents.following([UInt8](repeating: 0, count: parsingRoom)))
        return try parse(memory, of: source, nil)
    }

    package borrowing func copy() throws(LogError) -> KeyFile {
        KeyFile(kind: kind, sharing: sharing, secret: try translated(secret.copyOfKey()))
    }
}

extension SecretBytes {
    /// Returns a line: `start`, this object's bytes in hex, a hyphen, `checksum` in hex, and a line feed.
    borrowing func line(after start: String, _ checksum: [UInt8]) throws(SealingError) -> SecretBytes {
        let start = Array(start.utf8)
        let sumStart = start.count + count * 2 + 1
        var text = try SecretBytes(zeros: sumStart + checksum.count * 2 + 1, isKey: true)
        try text.withUnsafeMutableBytes { (text) throws(SealingError) in
            text.copyBytes(from: start)
            let digits = UnsafeMutableRawBufferPointer(rebasing: text[start.count..<sumStart])
            try withUnsafeBytes { (bytes) throws(SealingError) in try Hexadecimal.encode(bytes, into: digits) }
            try checksum.withRawBytes { (checksum) throws(SealingError) in
                try Hexadecimal.encode(checksum, into: UnsafeMutableRawBufferPointer(rebasing: text[sumStart...]))
            }
            // libsodium writes a zero byte after the digits of each part. A hyphen and a line feed replace these bytes.
            text[sumStart - 1] = UInt8(ascii: "-")
            text[text.count - 1] = UInt8(ascii: "\n")
        }
        return text
    }
}
