import LinuxSystem
import Sealing

// Format.md, "Pages".

/// The location of a sealed page, and its nonce.
package struct PageReference: Hashable, Sendable {
    let offset: UInt64
    /// The sealed length in bytes.
    let length: Int
    let nonce: Nonce

    func isWithin(_ range: Range<UInt64>) -> Bool {
        offset >= range.lowerBound && offset <= range.upperBound && range.upperBound - offset >= UInt64(length)
    }
}

/// An opened page of a tree. It decodes a cell only on request.
struct Page: Sendable {
    /// The size of the fields before the offsets of the cells.
    fileprivate static let headSize = 4

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
        var last = Page.headSize + count * 2 - 1
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
        Int(bytes.withUnsafeBytes { $0.integer(at: Page.headSize + index * 2) } as UInt16)
    }

    func name(_ index: Int) throws(Malformed) -> EntryName {
        var reader = cell(index)
        return try reader.name()
    }

    /// Returns the entry in a cell of a leaf.
    func entry(_ index: Int) throws(Malformed) -> Entry {
        var reader = cell(index)
        let entry = try reader.entry()
        try finish(index, &reader)
        return entry
    }

    /// Returns the present value of the entry in a cell of a leaf; nil for a tombstone.
    func currentVersion(_ index: Int) throws(Malformed) -> StoredVersion? {
        var reader = cell(index)
        return try reader.currentVersion()
    }

    /// Returns the child in a cell of an inner page.
    func child(_ index: Int) throws(Malformed) -> PageReference {
        var reader = cell(index)
        try reader.skip(reader.count(upTo: Limits.nameSize))
        let reference = try reader.pageReference()
        try finish(index, &reader)
        return reference
    }

    /// Checks that only the last cell is followed by padding.
    private func finish(_ index: Int, _ reader: inout ByteReader) throws(Malformed) {
        guard index == count - 1 || reader.remaining == 0 else { throw Malformed("a gap between a page's cells") }
        try reader.finish()
    }

    /// Finds the last cell whose name is at or before `name`, and whether it is equal; nil if all are after it.
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

    /// Returns the name of a cell in place: a search compares many names and keeps none.
    private static func name(
        in page: UnsafeRawBufferPointer, at offset: Int
    ) throws(Malformed) -> UnsafeRawBufferPointer {
        var start = offset
        let length = try page.varint(at: &start)
        guard length <= Limits.nameSize, start + Int(length) <= page.count else { throw Malformed("a name") }
        return UnsafeRawBufferPointer(rebasing: page[start..<start + Int(length)])
    }
}

/// Collects the cells of one page.
struct PageBuilder {
    private static let capacity = Limits.pageSize - SecretBox.tagSize

    let level: UInt8
    private var cells = ByteWriter(reserving: Limits.pageSize)
    private var starts: [Int] = []
    private(set) var firstName: EntryName?

    init(level: UInt8) {
        self.level = level
    }

    func hasRoom(for cell: [UInt8]) -> Bool {
        Page.headSize + (starts.count + 1) * 2 + cells.count + cell.count <= PageBuilder.capacity
    }

    mutating func add(_ cell: [UInt8], name: EntryName) {
        if firstName == nil { firstName = name }
        starts.append(cells.count)
        cells.append(cell)
    }

    /// The page's plaintext.
    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: Limits.pageSize)
        writer.byte(level)
        writer.byte(0)
        writer.integer(UInt16(starts.count))
        let offset = Page.headSize + starts.count * 2
        for start in starts { writer.integer(UInt16(offset + start)) }
        writer.append(cells.bytes)
        writer.pad()
        return writer.bytes
    }
}

extension ByteReader {
    mutating func pageReference() throws(Malformed) -> PageReference {
        let offset = try units()
        let length = try units()
        guard length > UInt64(SecretBox.tagSize), length <= UInt64(Limits.pageSize) else {
            throw Malformed("the length of a page")
        }
        return PageReference(offset: offset, length: Int(length), nonce: try nonce())
    }
}

extension ByteWriter {
    mutating func pageReference(_ reference: PageReference) {
        units(reference.offset)
        units(UInt64(reference.length))
        nonce(reference.nonce)
    }
}
