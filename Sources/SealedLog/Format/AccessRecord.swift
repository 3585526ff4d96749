import LinuxSystem
import Sealing

// Format.md, "The access log".

/// One read of a value, or a switch of the access log: who did it, and how.
package struct Access: Hashable, Sendable {
    /// The name that was read; empty for a switch.
    package let name: String
    /// The words of the command, without its arguments.
    package let command: String
    /// The executable that asked for it, or only its name; empty if that is unknown.
    package let program: String
    /// The process of that program; 0 if it is unknown.
    package let process: UInt64
    /// The user's number.
    package let user: UInt64
    /// The program that was started with the value; empty if there is none.
    package let started: String

    /// Creates it. Texts that are too long are cut.
    package init(
        name: String, command: String, program: String, process: UInt64, user: UInt64, started: String = ""
    ) {
        self.name = name.cut(to: Limits.nameSize)
        self.command = command.cut(to: AccessRecord.commandSize)
        self.program = program.cut(to: AccessRecord.programSize)
        self.started = started.cut(to: AccessRecord.programSize)
        (self.process, self.user) = (process, user)
    }
}

extension Access {
    /// Follows the words of a command that was refused.
    private static let refusal = ": refused"

    /// Whether the value was not given out, or the switch not made.
    package var isRefused: Bool { command.utf8.suffix(Access.refusal.utf8.count).elementsEqual(Access.refusal.utf8) }

    /// The words of the command alone.
    package var words: String {
        isRefused ? String(Substring(command.utf8.dropLast(Access.refusal.utf8.count))) : command
    }

    /// The same, refused.
    package var refused: Access {
        Access(
            name: name, command: command + Access.refusal, program: program, process: process, user: user,
            started: started)
    }
}

/// What is sealed in a record of the access log.
package struct AccessRecord: Hashable, Sendable {
    static let commandSize = 64
    static let programSize = 1_024
    static let noPrevious = [UInt8](repeating: 0, count: Authenticator.size).withUnsafeBytes { Authenticator($0) }

    /// One more than that of the record before.
    package let number: UInt64
    /// The authenticator of the record before; zeros in the first one.
    let previous: Authenticator
    /// Milliseconds since 1970.
    package let time: UInt64
    package let access: Access
}

extension AccessRecord {
    init(parsing bytes: [UInt8]) throws(Malformed) {
        var reader = ByteReader(bytes)
        number = try reader.integer()
        previous = try reader.authenticator()
        time = try reader.varint()
        let (user, process) = (try reader.varint(), try reader.varint())
        access = Access(
            name: try reader.text(upTo: Limits.nameSize), command: try reader.text(upTo: AccessRecord.commandSize),
            program: try reader.text(upTo: AccessRecord.programSize), process: process, user: user,
            started: try reader.text(upTo: AccessRecord.programSize))
        try reader.finish()
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: 256)
        writer.integer(number)
        writer.authenticator(previous)
        for number in [time, access.user, access.process] { writer.varint(number) }
        for text in [access.name, access.command, access.program, access.started] { writer.text(text) }
        return writer.bytes
    }
}

/// The first bytes of a record of the access log, not sealed.
struct AccessFrame {
    private static let magic: [UInt8] = Array("vacc".utf8)
    private static let checkedSize = 8
    private static let size = 16
    static let headSize = size + Nonce.size
    /// Records begin at multiples of this, and are as long.
    static let alignment = 64
    /// Of a whole record.
    static let largestSize = 4_096

    /// Of the whole record.
    let recordSize: Int

    /// Of a record that has room for a plaintext.
    init(holding size: Int) {
        let least = AccessFrame.headSize + SecretBox.tagSize + size
        recordSize = (least + AccessFrame.alignment - 1) / AccessFrame.alignment * AccessFrame.alignment
    }

    var plaintextSize: Int { recordSize - AccessFrame.headSize - SecretBox.tagSize }

    /// Returns nil unless the bytes begin with a frame that holds.
    init?(_ bytes: UnsafeRawBufferPointer, vaultID: [UInt8]) {
        guard bytes.count >= AccessFrame.size, bytes.starts(with: AccessFrame.magic) else { return nil }
        let length: UInt32 = bytes.integer(at: 4)
        let checked = UnsafeRawBufferPointer(rebasing: bytes[..<AccessFrame.checkedSize])
        guard AccessFrame.sum(checked, vaultID) == bytes.integer(at: AccessFrame.checkedSize),
            length > 0, length <= AccessFrame.largestSize, Int(length).isMultiple(of: AccessFrame.alignment)
        else { return nil }
        recordSize = Int(length)
    }

    func encoded(vaultID: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(reserving: recordSize)
        writer.append(AccessFrame.magic)
        writer.integer(UInt32(recordSize))
        writer.integer(writer.bytes.withUnsafeBytes { AccessFrame.sum($0, vaultID) } ?? 0)
        return writer.bytes
    }

    private static func sum(_ bytes: UnsafeRawBufferPointer, _ vaultID: [UInt8]) -> UInt64? {
        try? vaultID.withUnsafeBytes { try ShortHash.hash(bytes, key: $0) }
    }
}

extension String {
    /// Returns the longest beginning that has no more bytes of UTF-8.
    fileprivate func cut(to size: Int) -> String {
        guard utf8.count > size else { return self }
        var (end, used) = (unicodeScalars.startIndex, 0)
        while end < unicodeScalars.endIndex {
            used += UTF8.width(unicodeScalars[end])
            if used > size { break }
            end = unicodeScalars.index(after: end)
        }
        return String(self[..<end])
    }
}
