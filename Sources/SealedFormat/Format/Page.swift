import LinuxSystem
package import Sealing

// The encoding of tree pages; see Format.md, "Pages".

/// The offset, length and nonce of a sealed page.
package struct PageReference: Hashable, Sendable {
    package let offset: UInt64
    /// The length of the sealed page in bytes.
    package let length: Int
    package let nonce: Nonce

    package init(offset: UInt64, length: Int, nonce: Nonce) {
        self.offset = offset
        self.length = length
        self.nonce = nonce
    }

    package var box: Range<UInt64> { offset..<offset + UInt64(length) }
}

/// An opened page of a tree. The cells of a leaf contain entries; the cells of an inner page refer to child pages.
/// Cells are decoded on request. All errors are `damaged` and state the page's offset in the file.
package struct Page: Sendable {
    fileprivate static let headSize = 4

    package let level: UInt8
    package let count: Int
    private let bytes: [UInt8]
    private let offset: UInt64

    package var isLeaf: Bool { level == 0 }

    package init(parsing bytes: [UInt8], at offset: UInt64) throws(LogError) {
        do throws(Malformed) {
            var reader = ByteReader(bytes)
            level = try reader.byte()
            guard level <= Limits.pageLevel else { throw Malformed("a page's level") }
            try reader.reserved(1)
            count = Int(try reader.integer(UInt16.self))
            guard count > 0, count * 2 <= reader.remaining else { throw Malformed("the number of a page's cells") }
            var last = Page.headSize + count * 2 - 1
            for index in 0..<count {
                let start = Int(try reader.integer(UInt16.self))
                guard start > last, start < bytes.count else { throw Malformed("the offsets of a page's cells") }
                guard index > 0 || start == last + 1 else { throw Malformed("a gap before a page's cells") }
                last = start
            }
        } catch { throw .damaged("a page of the index (\(error.what))", at: offset) }
        self.bytes = bytes
        self.offset = offset
    }

    package func damaged(_ what: StaticString) -> LogError { .damaged("a page of the index (\(what))", at: offset) }

    package func name(_ index: Int) throws(LogError) -> EntryName {
        try read(index, isWhole: false) { (cell) throws(Malformed) in try cell.name() }
    }

    package func entry(_ index: Int) throws(LogError) -> Entry {
        try read(index) { (cell) throws(Malformed) in try cell.entry() }
    }

    package func currentVersion(_ index: Int, at now: @autoclosure () -> UInt64) throws(LogError) -> StoredVersion? {
        try read(index, isWhole: false) { (cell) throws(Malformed) in try cell.currentVersion(at: now()) }
    }

    package func listedName(_ index: Int) throws(LogError) -> ListedName {
        try read(index, isWhole: false) { (cell) throws(Malformed) in try cell.listedName() }
    }

    /// Returns a leaf's last name. Throws `damaged` if a name is out of order, not after `former`, or outside `bounds`.
    package func checkedLastName(after former: EntryName?, within bounds: NameRange) throws(LogError) -> EntryName {
        let first = try name(0)
        let last = try name(count - 1)
        do throws(Malformed) {
            try bytes.withRawBytes { (page) throws(Malformed) in
                var former = try Page.name(in: page, at: start(0))
                for index in 1..<max(count, 1) {
                    let name = try Page.name(in: page, at: start(index))
                    guard former.order(to: name) < 0 else { throw Malformed("the order of names") }
                    former = name
                }
            }
            guard former.map({ $0 < first }) ?? true, bounds.contains(first), bounds.contains(last) else {
                throw Malformed("the order of names")
            }
        } catch { throw damaged(error.what) }
        return last
    }

    package func child(_ index: Int) throws(LogError) -> PageReference {
        try read(index) { (cell) throws(Malformed) in
            try cell.skip(cell.count(upTo: Limits.nameSize))
            return try cell.pageReference()
        }
    }

    /// Reads a cell. If `isWhole` is true, `body` must read the whole cell. Padding may follow only a page's last cell.
    @inline(__always)
    private func read<Result>(
        _ index: Int, isWhole: Bool = true, _ body: (inout ByteReader) throws(Malformed) -> Result
    ) throws(LogError) -> Result {
        let isLast = index == count - 1
        var cell = ByteReader(bytes, in: start(index)..<(isLast ? bytes.count : start(index + 1)))
        do throws(Malformed) {
            let result = try body(&cell)
            guard !isWhole || isLast || cell.remaining == 0 else { throw Malformed("a gap between a page's cells") }
            if isWhole { try cell.finish() }
            return result
        } catch { throw damaged(error.what) }
    }

    private func start(_ index: Int) -> Int {
        Int(bytes.withUnsafeBytes { $0.integer(at: Page.headSize + index * 2) } as UInt16)
    }

    /// Returns the last cell whose name is at or before `name`, and whether the names are equal; nil if there is none.
    package func lastCell(notAfter name: UnsafeRawBufferPointer) throws(LogError) -> (index: Int, isExact: Bool)? {
        do throws(Malformed) {
            return try bytes.withRawBytes { (page) throws(Malformed) in
                let found = try binarySearch(count) { (index) throws(Malformed) in
                    let start = Int(page.integer(at: Page.headSize + index * 2) as UInt16)
                    return try Page.name(in: page, at: start).order(to: name)
                }
                if found.isExact { return found }
                return found.index == 0 ? nil : (found.index - 1, false)
            }
        } catch { throw damaged(error.what) }
    }

    /// Returns the name of a cell without copying it, because a search compares many names but keeps none of them.
    private static func name(
        in page: UnsafeRawBufferPointer, at offset: Int
    ) throws(Malformed) -> UnsafeRawBufferPointer {
        var start = offset
        let length = try page.varint(at: &start)
        guard length <= Limits.nameSize, start + Int(length) <= page.count else { throw Malformed("a name") }
        return UnsafeRawBufferPointer(rebasing: page[start..<start + Int(length)])
    }
}

/// The names at or after `lower` and before `upper`. If a bound is nil, the range is unlimited on that side.
package struct NameRange: Sendable {
    package var lower: EntryName?
    package var upper: EntryName?

    package init(lower: EntryName? = nil, upper: EntryName? = nil) {
        self.lower = lower
        self.upper = upper
    }

    package func contains(_ name: EntryName) -> Bool {
        lower.map { $0 <= name } ?? true && upper.map { name < $0 } ?? true
    }
}

package struct PageBuilder {
    private static let capacity = Limits.pageSize - SecretBox.tagSize

    private var cells = ByteWriter(reserving: Limits.pageSize)
    private var starts: [Int] = []
    package private(set) var firstName: EntryName?

    package init() {}

    /// Adds a cell, which must begin with its name. Returns false if the cell does not fit in the page.
    package mutating func add(_ name: EntryName, _ write: (inout ByteWriter) -> Void) -> Bool {
        let start = cells.count
        write(&cells)
        guard Page.headSize + (starts.count + 1) * 2 + cells.count <= PageBuilder.capacity else {
            cells.removeBytes(from: start)
            return false
        }
        if firstName == nil { firstName = name }
        starts.append(start)
        return true
    }

    package func encoded(level: Int) -> [UInt8] {
        var writer = ByteWriter(reserving: Limits.pageSize)
        writer.byte(UInt8(level))
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
    package mutating func pageReference(_ reference: PageReference) {
        units(reference.offset)
        units(UInt64(reference.length))
        nonce(reference.nonce)
    }
}
