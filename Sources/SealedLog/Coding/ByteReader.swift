/// Bytes that break the format. Says which field; the caller knows where.
struct Malformed: Error {
    let what: StaticString

    init(_ what: StaticString) {
        self.what = what
    }
}

/// Reads the fields of Format.md one after the other. Total: whatever the bytes are, a call gives a value or throws.
struct ByteReader {
    let bytes: [UInt8]
    private(set) var position: Int
    let end: Int

    init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        position = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
        precondition(position >= 0 && end <= bytes.count)
    }

    var remaining: Int { end - position }

    private mutating func take(_ count: Int) throws(Malformed) -> Int {
        guard count >= 0, count <= remaining else { throw Malformed("too short") }
        defer { position += count }
        return position
    }

    mutating func byte() throws(Malformed) -> UInt8 {
        bytes[try take(1)]
    }

    mutating func integer<Integer: FixedWidthInteger>(
        _ type: Integer.Type = Integer.self
    ) throws(Malformed) -> Integer {
        let start = try take(MemoryLayout<Integer>.size)
        return bytes.withUnsafeBytes {
            Integer(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: Integer.self))
        }
    }

    /// LEB128 in its shortest form.
    mutating func varint() throws(Malformed) -> UInt64 {
        var (value, shift, index) = (UInt64(0), UInt64(0), position)
        while shift < 70 {
            guard index < end else { throw Malformed("too short") }
            let byte = bytes[index]
            let digit = UInt64(byte & 0x7f)
            guard shift < 63 || digit <= 1 else { break }
            value |= digit &<< shift
            (shift, index) = (shift + 7, index + 1)
            if byte < 0x80 {
                guard byte != 0 || shift == 7 else { break }
                position = index
                return value
            }
        }
        throw Malformed("a number that is not in its shortest form")
    }

    /// A varint that counts or measures something in memory, at most `limit`.
    mutating func count(upTo limit: Int) throws(Malformed) -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else { throw Malformed("a number out of bounds") }
        return Int(value)
    }

    /// A varint in units of 16 bytes.
    mutating func units() throws(Malformed) -> UInt64 {
        let value = try varint()
        guard value < 1 << 58 else { throw Malformed("an offset out of bounds") }
        return value * 16
    }

    mutating func skip(_ count: Int) throws(Malformed) {
        _ = try take(count)
    }

    /// Zeros that a later version may give a meaning.
    mutating func reserved(_ count: Int) throws(Malformed) {
        guard try withBytes(count, { $0.isZero }) else { throw Malformed("reserved bytes") }
    }

    mutating func array(_ count: Int) throws(Malformed) -> [UInt8] {
        let start = try take(count)
        return Array(bytes[start..<start + count])
    }

    mutating func withBytes<Result>(
        _ count: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(Malformed) -> Result {
        let start = try take(count)
        return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
    }

    mutating func text(upTo limit: Int) throws(Malformed) -> String {
        let length = try count(upTo: limit)
        guard let text = try withBytes(length, { String(validating: $0, as: UTF8.self) }) else {
            throw Malformed("text that is not UTF-8")
        }
        return text
    }

    /// Padding: nothing but zeros to the end.
    mutating func finish() throws(Malformed) {
        guard try withBytes(remaining, { $0.isZero }) else { throw Malformed("bytes in the padding") }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all the bytes are zero; eight at a time, since a header is nearly all zeros, and so is what lies behind a log.
    var isZero: Bool {
        var index = 0
        while index + 8 <= count {
            if loadUnaligned(fromByteOffset: index, as: UInt64.self) != 0 { return false }
            index += 8
        }
        return self[index...].allSatisfy { $0 == 0 }
    }
}
