import LinuxSystem
package import Sealing

// The fields of the format are encoded as described in Format.md, "Conventions".

/// A violation of the format. `what` names the invalid field; the caller adds its offset.
package struct Malformed: Error {
    package let what: StaticString

    init(_ what: StaticString) { self.what = what }
}

/// A sequential reader of encoded fields. Invalid bytes cause an error, never a trap.
package struct ByteReader {
    let bytes: [UInt8]
    package private(set) var position: Int
    let end: Int

    package init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        position = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
        precondition(position >= 0 && end <= bytes.count)
    }

    var remaining: Int { end - position }

    /// Skips `count` bytes and returns the offset of the first skipped byte.
    @discardableResult
    mutating func skip(_ count: Int) throws(Malformed) -> Int {
        guard count >= 0, count <= remaining else { throw Malformed("too short") }
        defer { position += count }
        return position
    }

    package mutating func byte() throws(Malformed) -> UInt8 { bytes[try skip(1)] }

    package mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(Malformed) -> Value
    {
        try withBytes(MemoryLayout<Value>.size) { $0.integer(at: 0) }
    }

    package mutating func varint() throws(Malformed) -> UInt64 {
        var index = position
        let value = try bytes.withRawBytes { (bytes) throws(Malformed) in
            try UnsafeRawBufferPointer(rebasing: bytes[..<end]).varint(at: &index)
        }
        position = index
        return value
    }

    /// Reads a varint that is a count or a size. Throws if it exceeds `limit`.
    mutating func count(upTo limit: Int) throws(Malformed) -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else { throw Malformed("a number out of bounds") }
        return Int(value)
    }

    /// Reads an offset or length that is encoded in units of 16 bytes, and returns it in bytes.
    mutating func units() throws(Malformed) -> UInt64 {
        let value = try varint()
        guard value < 1 << 58 else { throw Malformed("an offset out of bounds") }
        return value * 16
    }

    /// Reads a count, followed by that many items.
    mutating func list<Item>(
        upTo limit: Int, _ read: (inout ByteReader) throws(Malformed) -> Item
    ) throws(Malformed) -> [Item] {
        var items: [Item] = []
        for _ in 0..<(try count(upTo: limit)) { items.append(try read(&self)) }
        return items
    }

    /// Skips reserved bytes, which must be zero in this version.
    mutating func reserved(_ count: Int, _ what: StaticString = "reserved bytes") throws(Malformed) {
        guard try withBytes(count, { $0.isZero }) else { throw Malformed(what) }
    }

    mutating func finish() throws(Malformed) { try reserved(remaining, "padding that is not zero") }

    mutating func array(_ count: Int) throws(Malformed) -> [UInt8] { try withBytes(count) { Array($0) } }
    package mutating func nonce() throws(Malformed) -> Nonce { try withBytes(Nonce.size) { Nonce($0) } }

    mutating func withBytes<Result>(
        _ count: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(Malformed) -> Result {
        let start = try skip(count)
        return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
    }

    package mutating func text(upTo limit: Int) throws(Malformed) -> String {
        guard let text = try withBytes(count(upTo: limit), { String(validating: $0, as: UTF8.self) }) else {
            throw Malformed("text that is not UTF-8")
        }
        return text
    }
}

/// A writer of fields in the encoding that ``ByteReader`` reads.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    package var count: Int { bytes.count }

    mutating func reserve(_ capacity: Int) { bytes.reserveCapacity(capacity) }

    package mutating func byte(_ value: UInt8) { bytes.append(value) }
    package mutating func integer(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { append($0) }
    }

    package mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    package mutating func varint(_ value: Int) { varint(UInt64(value)) }

    mutating func units(_ value: UInt64) {
        precondition(value.isMultiple(of: 16))
        varint(value / 16)
    }

    mutating func list<Item>(_ items: [Item], _ write: (inout ByteWriter, Item) -> Void) {
        varint(items.count)
        for item in items { write(&self, item) }
    }

    // This method is not generic, because the compiler would not specialize a generic one for callers in other modules.
    package mutating func append(_ other: [UInt8]) { bytes.append(contentsOf: other) }
    mutating func append(_ other: UnsafeRawBufferPointer) { bytes.append(contentsOf: other) }

    package mutating func text(_ text: String) {
        varint(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func nonce(_ nonce: Nonce) { nonce.withUnsafeBytes { append($0) } }
    package mutating func zeros(_ count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }
    mutating func removeBytes(from count: Int) { bytes.removeSubrange(count...) }
    /// Appends zeros until the number of bytes is a multiple of 16.
    mutating func pad() { zeros(-count & 15) }
}

extension UnsafeRawBufferPointer {
    func integer<Integer: FixedWidthInteger>(at offset: Int) -> Integer {
        Integer(littleEndian: loadUnaligned(fromByteOffset: offset, as: Integer.self))
    }

    /// Reads an unsigned LEB128 number, and advances `index` past it. Throws if the number has a shorter encoding.
    func varint(at index: inout Int) throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 70 {
            guard index < count else { throw Malformed("too short") }
            let byte = self[index]
            let digit = UInt64(byte & 0x7f)
            guard shift < 63 || digit <= 1 else { break }
            value |= digit &<< shift
            index += 1
            if byte < 0x80 {
                guard byte != 0 || shift == 0 else { break }
                return value
            }
            shift += 7
        }
        throw Malformed("a number that is not in its shortest form")
    }

    /// Whether all bytes are zero. Compares eight bytes at a time, because headers and free space are mostly zeros.
    package var isZero: Bool {
        var index = 0
        while index + 8 <= count {
            if loadUnaligned(fromByteOffset: index, as: UInt64.self) != 0 { return false }
            index += 8
        }
        return self[index...].allSatisfy { $0 == 0 }
    }
}
