import LinuxSystem
import Sealing

/// The entries of the records since the newest checkpoint, by name.
struct RecentEntries: Sendable {
    private var entries: [Entry] = []
    /// Indices into `entries`, ordered by name: an insertion moves four bytes per entry instead of a whole entry.
    private var order: [Int32] = []

    var count: Int { order.count }
    subscript(position: Int) -> Entry { entries[Int(order[position])] }

    /// Returns the first position whose name is not before `name`, and whether the name is equal.
    func position(of name: UnsafeRawBufferPointer) -> (index: Int, isExact: Bool) {
        // Through spans: an array's subscript would retain and release each compared name.
        let (entries, order) = (entries.span, order.span)
        return binarySearch(order.count) {
            entries[Int(order[$0])].name.bytes.span.bytes.withUnsafeBytes { $0.order(to: name) }
        }
    }

    func find(_ name: UnsafeRawBufferPointer) -> Entry? {
        let (index, isFound) = position(of: name)
        return isFound ? self[index] : nil
    }

    func find(_ name: EntryName) -> Entry? { name.bytes.withUnsafeBytes(find) }

    mutating func insert(_ entry: Entry) {
        let (index, isFound) = entry.name.bytes.withUnsafeBytes(position)
        if isFound {
            entries[Int(order[index])] = entry
        } else {
            order.insert(Int32(entries.count), at: index)
            entries.append(entry)
        }
    }
}

/// Keeps opened pages (up to 4 MiB) and blocks of sealed bytes (2 MiB), each in its one possible slot, found without
/// hashing. Neither changes during the lifetime of its file.
struct PageCache: Sendable {
    private static let pageSlots = 256
    private static let blockSlots = 128
    private static let blockSize: UInt64 = 16 << 10

    private var pages: [Page?] = []
    /// The offsets of the pages. In an array together with them, a comparison would retain and release the page.
    private var pageOffsets: [UInt64] = []
    /// No bytes mean that one value of the block was read. The block is kept from the second time on.
    private var blocks: [(offset: UInt64, bytes: [UInt8])?] = []

    func page(at offset: UInt64) -> Page? {
        let slot = PageCache.slot(ofPageAt: offset)
        guard !pages.isEmpty, pageOffsets[slot] == offset else { return nil }
        return pages[slot]
    }

    mutating func keep(_ page: Page, at offset: UInt64) {
        if pages.isEmpty {
            pages = Array(repeating: nil, count: PageCache.pageSlots)
            pageOffsets = Array(repeating: 0, count: PageCache.pageSlots)
        }
        let slot = PageCache.slot(ofPageAt: offset)
        (pages[slot], pageOffsets[slot]) = (page, offset)
    }

    /// Pages are at least 4 KiB apart, except for short ones.
    private static func slot(ofPageAt offset: UInt64) -> Int { Int(offset / 4_096 % UInt64(pageSlots)) }

    /// Copies sealed bytes of the log, which ends at `end`: bytes beyond it may still change and are not kept. Throws
    /// `damaged` if the file ends before.
    mutating func copy(
        from offset: UInt64, into buffer: UnsafeMutableRawBufferPointer, of store: any RecordStore, end: UInt64
    ) throws(LogError) {
        let start = offset / PageCache.blockSize * PageCache.blockSize
        let inBlock = Int(offset - start)
        if inBlock + buffer.count <= Int(PageCache.blockSize), start + PageCache.blockSize <= end {
            if blocks.isEmpty { blocks = Array(repeating: nil, count: PageCache.blockSlots) }
            let slot = Int(start / PageCache.blockSize % UInt64(PageCache.blockSlots))
            if blocks[slot]?.offset == start {
                if blocks[slot]?.bytes.isEmpty ?? true {
                    blocks[slot] = (start, try store.bytes(at: start, count: Int(PageCache.blockSize)))
                }
                blocks[slot]?.bytes.withRawBytes {
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[inBlock..<inBlock + buffer.count]))
                }
                return
            }
            // A process that reads only one value, such as the command, should not read a whole block.
            blocks[slot] = (start, [])
        }
        guard try store.read(into: buffer, at: offset) == buffer.count else { throw .cut(at: offset) }
    }
}
