import LinuxSystem
import Sealing

/// An opened page of a tree; Format.md, "Pages". Cells are read only when they are asked for.
struct Page: Sendable {
    private static let cellsPlace = 4

    let level: UInt8
    let count: Int
    private let bytes: [UInt8]

    var isLeaf: Bool { level == 0 }

    init(parsing bytes: [UInt8]) throws(Malformed) {
        var reader = ByteReader(bytes)
        level = try reader.byte()
        guard level <= Limits.pageLevel else { throw Malformed("a page's level") }
        try reader.reserved(1)
        count = Int(try reader.integer(UInt16.self))
        guard count > 0, count * 2 <= reader.remaining else { throw Malformed("the number of a page's cells") }
        self.bytes = bytes
        var last = Page.cellsPlace + count * 2 - 1
        for index in 0..<count {
            let offset = Int(try reader.integer(UInt16.self))
            guard offset > last, offset < bytes.count else { throw Malformed("the offsets of a page's cells") }
            guard index > 0 || offset == last + 1 else { throw Malformed("a gap before a page's cells") }
            last = offset
        }
    }

    private func cell(_ index: Int) -> ByteReader {
        ByteReader(bytes, in: offset(index)..<(index + 1 < count ? offset(index + 1) : bytes.count))
    }

    private func offset(_ index: Int) -> Int {
        bytes.withUnsafeBytes {
            Int(UInt16(littleEndian: $0.loadUnaligned(fromByteOffset: Page.cellsPlace + index * 2, as: UInt16.self)))
        }
    }

    func name(_ index: Int) throws(Malformed) -> EntryName {
        var reader = cell(index)
        return try reader.name()
    }

    /// The entry in a cell of a leaf.
    func entry(_ index: Int) throws(Malformed) -> Entry {
        var reader = cell(index)
        let entry = try reader.entry()
        try endOfCell(index, &reader)
        return entry
    }

    /// The value of the entry in a cell of a leaf; nil of a tombstone.
    func currentVersion(_ index: Int) throws(Malformed) -> StoredVersion? {
        var reader = cell(index)
        return try reader.currentVersion()
    }

    /// The child in a cell of an inner page.
    func child(_ index: Int) throws(Malformed) -> PageReference {
        var reader = cell(index)
        try reader.skip(reader.count(upTo: Limits.nameSize))
        let reference = try reader.pageReference()
        try endOfCell(index, &reader)
        return reference
    }

    /// Only padding may follow the last cell, and nothing the others.
    private func endOfCell(_ index: Int, _ reader: inout ByteReader) throws(Malformed) {
        guard index == count - 1 || reader.remaining == 0 else { throw Malformed("a gap between a page's cells") }
        try reader.finish()
    }

    /// The last cell whose name is at or before `name`, and whether it is that name; nil if all come after it.
    func lastCell(notAfter name: UnsafeRawBufferPointer) throws(Malformed) -> (index: Int, isExact: Bool)? {
        try bytes.withRawBytes { (page) throws(Malformed) in
            var (low, high) = (0, count)
            while low < high {
                let middle = (low + high) / 2
                let order = try Page.name(in: page, at: offset(middle)).order(to: name)
                if order == 0 { return (middle, true) }
                if order < 0 { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? nil : (low - 1, false)
        }
    }

    /// The name that a cell begins with, in place: a search compares many and keeps none.
    private static func name(
        in page: UnsafeRawBufferPointer, at offset: Int
    ) throws(Malformed) -> UnsafeRawBufferPointer {
        // A name has at most 1,024 bytes, so its length at most two digits.
        guard offset + 2 <= page.count else { throw Malformed("too short") }
        var (length, start) = (Int(page[offset]), offset + 1)
        if length >= 0x80 {
            length = length & 0x7f | Int(page[start]) << 7
            start += 1
        }
        guard length <= Limits.nameSize, start + length <= page.count else { throw Malformed("a name") }
        return UnsafeRawBufferPointer(rebasing: page[start..<start + length])
    }
}
