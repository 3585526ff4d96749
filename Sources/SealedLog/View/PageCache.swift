import LinuxSystem
import Sealing

/// Opened pages and sealed bytes that need not be read again: neither changes while its file lives.
///
/// Each has one slot that it can be in, found without hashing. At most 4 MiB of pages and 2 MiB of blocks.
struct PageCache: Sendable {
    private static let pageSlots = 256
    private static let blockSlots = 128
    private static let blockSize: UInt64 = 16 << 10

    private var pages: [Page?] = []
    /// Where the pages lie, beside them: to look at an offset in an array of both would retain and release the page.
    private var pageOffsets: [UInt64] = []
    /// Empty bytes: a value in the block was read once; it is kept from the second time on.
    private var blocks: [(offset: UInt64, bytes: [UInt8])?] = []

    /// The page at an offset, if it was kept.
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

    /// Pages lie about 16 KiB of page and as much of values apart.
    private static func slot(ofPageAt offset: UInt64) -> Int {
        Int(offset / 4_096 % UInt64(pageSlots))
    }

    /// Copies sealed bytes of the log.
    ///
    /// - Parameter end: where the log ends; what lies beyond may still change and is not kept.
    /// - Throws: `damaged` if the file ends before.
    mutating func copy(
        from offset: UInt64, into buffer: UnsafeMutableRawBufferPointer, of store: any RecordStore, end: UInt64
    ) throws(LogError) {
        let start = offset / PageCache.blockSize * PageCache.blockSize
        let inBlock = Int(offset - start)
        guard inBlock + buffer.count <= Int(PageCache.blockSize), start + PageCache.blockSize <= end else {
            return try PageCache.read(into: buffer, at: offset, of: store)
        }
        if blocks.isEmpty { blocks = Array(repeating: nil, count: PageCache.blockSlots) }
        let slot = Int(start / PageCache.blockSize % UInt64(PageCache.blockSlots))
        guard blocks[slot]?.offset == start else {
            // Whoever reads just one value, as the command does, is not to pay for a block.
            blocks[slot] = (start, [])
            return try PageCache.read(into: buffer, at: offset, of: store)
        }
        if blocks[slot]?.bytes.isEmpty ?? true {
            blocks[slot] = (start, try store.bytes(at: start, count: Int(PageCache.blockSize)))
        }
        blocks[slot]?.bytes.withRawBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[inBlock..<inBlock + buffer.count]))
        }
    }

    private static func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64, of store: any RecordStore
    ) throws(LogError) {
        guard try store.read(into: buffer, at: offset) == buffer.count else {
            throw LogError.damaged("the file ends too early; it was cut", at: offset)
        }
    }
}
