/// The last 32 bytes of a binary property list, and the offset table that they lead to.
///
/// Source of the format: the comment "HEADER, OBJECT TABLE, OFFSET TABLE, TRAILER" in CoreFoundation's CFBinaryPList.c.
struct BinaryTrailer {
    static let size = 32
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
        let start = bytes.count - BinaryTrailer.size
        guard start > BinaryTrailer.header.count else { throw .malformed("too short") }
        func field(_ offset: Int) -> Int {
            Int(clamping: bytes[start + offset..<start + offset + 8].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        }
        offsetSize = Int(bytes[start + 6])
        referenceSize = Int(bytes[start + 7])
        objectCount = field(8)
        root = field(16)
        tableStart = field(24)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw .malformed("a width out of bounds")
        }
        let (tableSize, overflow) = objectCount.multipliedReportingOverflow(by: offsetSize)
        let places = BinaryTrailer.header.count + 1...start
        guard !overflow, places.contains(tableStart), tableSize == start - tableStart else {
            throw .malformed("an offset table out of bounds")
        }
        guard root < objectCount else { throw .malformed("a root that is not there") }
    }
}
