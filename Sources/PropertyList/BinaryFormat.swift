// Source of the format: the comment "HEADER, OBJECT TABLE, OFFSET TABLE, TRAILER" in CoreFoundation's CFBinaryPList.c.

/// The first byte of an object: its type in the high half, in the low half a size.
enum BinaryMarker {
    static let no: UInt8 = 0x08
    static let yes: UInt8 = 0x09
    static let integer: UInt8 = 0x10
    static let real: UInt8 = 0x20
    static let date: UInt8 = 0x33
    static let data: UInt8 = 0x40
    static let ascii: UInt8 = 0x50
    static let utf16: UInt8 = 0x60
    static let array: UInt8 = 0xa0
    static let dictionary: UInt8 = 0xd0
    /// In the place of a size: an integer object with the size follows.
    static let sizeFollows: UInt8 = 0x0f
}

/// The last 32 bytes of a binary property list, which give the offset table's location.
struct BinaryTrailer {
    static let header = Array("bplist00".utf8)

    let offsetSize: Int
    let referenceSize: Int
    let objectCount: Int
    let root: Int
    let tableStart: Int

    init(_ bytes: [UInt8]) throws(PropertyListError) {
        guard bytes.starts(with: BinaryTrailer.header) else {
            throw .unsupported("a version of the binary format other than 00")
        }
        let start = bytes.count - 32
        guard start > BinaryTrailer.header.count else { throw .malformed("too short") }
        offsetSize = Int(bytes[start + 6])
        referenceSize = Int(bytes[start + 7])
        let fields: [Int] = bytes[(start + 8)...].bigEndianNumbers(ofSize: 8)
        (objectCount, root, tableStart) = (fields[0], fields[1], fields[2])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw .malformed("a width out of bounds")
        }
        guard (BinaryTrailer.header.count + 1...start).contains(tableStart),
            (start - tableStart).quotientAndRemainder(dividingBy: offsetSize) == (objectCount, 0)
        else { throw .malformed("an offset table out of bounds") }
        guard root < objectCount else { throw .malformed("a missing root") }
    }
}

extension ArraySlice<UInt8> {
    /// The number that at most 8 bytes are, the highest of them first.
    var bigEndianNumber: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }

    /// Returns the numbers of `size` bytes each that the bytes are; the highest `Number` for a higher one.
    func bigEndianNumbers<Number: FixedWidthInteger>(ofSize size: Int) -> [Number] {
        stride(from: startIndex, to: endIndex, by: size).map { Number(clamping: self[$0..<$0 + size].bigEndianNumber) }
    }
}
