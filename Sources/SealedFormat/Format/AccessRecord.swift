import LinuxSystem
import Sealing

// The encoding of access log records; see Format.md, "The access log".

/// An event in the access log: reading a value, or switching the log on or off.
package struct Access: Hashable, Sendable {
    /// The name of the entry that was read; empty if the access log was switched on or off.
    package let name: String
    /// The vault command without its arguments. If the command was refused, a suffix says so.
    package let command: String
    /// The path or name of the executable that read the value; empty if unknown.
    package let program: String
    /// The process ID of ``program``; 0 if unknown.
    package let process: UInt64
    package let user: UInt64
    /// The program that the command started and passed the value to; empty if the command started no program.
    package let started: String

    /// Creates an event. Truncates strings that exceed their size limits.
    package init(name: String, command: String, program: String, process: UInt64, user: UInt64, started: String = "") {
        self.name = name.cut(to: Limits.nameSize)
        self.command = command.cut(to: AccessRecord.commandSize)
        self.program = program.cut(to: AccessRecord.programSize)
        self.started = started.cut(to: AccessRecord.programSize)
        self.process = process
        self.user = user
    }

    private static let refusal = ": refused"

    /// Whether the command was refused. If so, it neither returned the value nor switched the access log on or off.
    package var isRefused: Bool { command.utf8.suffix(Access.refusal.utf8.count).elementsEqual(Access.refusal.utf8) }

    /// The vault command, without the suffix that ``command`` has if it was refused.
    package var commandName: String {
        isRefused ? String(Substring(command.utf8.dropLast(Access.refusal.utf8.count))) : command
    }

    /// A copy of this event, marked as refused.
    package var refused: Access {
        Access(
            name: name, command: command + Access.refusal, program: program, process: process, user: user,
            started: started)
    }
}

/// The sealed contents of an access log record.
package struct AccessRecord: Hashable, Sendable {
    static let commandSize = 64
    static let programSize = 1_024

    /// The record's number. The first record has number 1, and the numbers have no gaps.
    package let number: UInt64
    /// The authenticator of the previous record; all zeros in the first record.
    package let previous: Authenticator
    /// The time of the access in milliseconds since 1970.
    package let time: UInt64
    package let access: Access

    package init(number: UInt64, previous: Authenticator, time: UInt64, access: Access) {
        self.number = number
        self.previous = previous
        self.time = time
        self.access = access
    }
}

extension AccessRecord {
    package init(parsing bytes: [UInt8]) throws(Malformed) {
        var reader = ByteReader(bytes)
        number = try reader.integer()
        previous = try reader.authenticator()
        time = try reader.varint()
        let user = try reader.varint()
        let process = try reader.varint()
        access = Access(
            name: try reader.text(upTo: Limits.nameSize), command: try reader.text(upTo: AccessRecord.commandSize),
            program: try reader.text(upTo: AccessRecord.programSize), process: process, user: user,
            started: try reader.text(upTo: AccessRecord.programSize))
        try reader.finish()
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter(reserving: 256)
        writer.integer(number)
        writer.authenticator(previous)
        for number in [time, access.user, access.process] { writer.varint(number) }
        for text in [access.name, access.command, access.program, access.started] { writer.text(text) }
        return writer.bytes
    }
}

/// The unsealed start of an access log record. It contains the record's size and a checksum.
package struct AccessFrame {
    private static let magic: [UInt8] = Array("vacc".utf8)
    private static let checkedSize = 8
    private static let size = 16
    package static let headSize = size + Nonce.size
    /// The alignment of each record's offset and size, in bytes.
    package static let alignment = 64
    /// The maximum size of a record in bytes, including its frame.
    package static let largestSize = 4_096

    package let recordSize: Int

    package init(holding size: Int) {
        let least = AccessFrame.headSize + SecretBox.tagSize + size
        recordSize = (least + AccessFrame.alignment - 1) / AccessFrame.alignment * AccessFrame.alignment
    }

    package var plaintextSize: Int { recordSize - AccessFrame.headSize - SecretBox.tagSize }

    /// Parses a frame. Returns nil if the magic or the checksum does not match, or if the size is out of range.
    package init?(_ bytes: UnsafeRawBufferPointer, vaultID: [UInt8]) {
        guard bytes.count >= AccessFrame.size, bytes.starts(with: AccessFrame.magic) else { return nil }
        let length: UInt32 = bytes.integer(at: 4)
        let checked = UnsafeRawBufferPointer(rebasing: bytes[..<AccessFrame.checkedSize])
        guard AccessFrame.sum(checked, vaultID) == bytes.integer(at: AccessFrame.checkedSize),
            length > 0, length <= AccessFrame.largestSize, Int(length).isMultiple(of: AccessFrame.alignment)
        else { return nil }
        recordSize = Int(length)
    }

    package func encoded(vaultID: [UInt8]) -> [UInt8] {
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
    /// Returns the longest prefix of the string that fits in `size` bytes of UTF-8.
    fileprivate func cut(to size: Int) -> String {
        guard utf8.count > size else { return self }
        var end = unicodeScalars.startIndex
        var used = 0
        while end < unicodeScalars.endIndex {
            used += UTF8.width(unicodeScalars[end])
            if used > size { break }
            end = unicodeScalars.index(after: end)
        }
        return String(self[..<end])
    }
}
