import LinuxSystem
import Sealing

/// A cache of up to `limit` opened pages and 2 MiB of sealed blocks. A file's pages and blocks never change.
struct PageCache: Sendable {
    /// The maximum number of pages in the cache. Each takes up to 16 KiB.
    var limit = Limits.indexMemory / Limits.pageSize

    /// The number of adjacent slots in a group. A page may be in any slot of the group that its offset selects.
    private static let ways = 4
    private static let blockSlots = 128
    private static let blockSize: UInt64 = 16 << 10

    private var pages: [Page?] = []
    /// The offsets of the pages; 0 marks a free slot, because no page has that offset. The offsets are in a separate
    /// array, because comparing an offset would otherwise retain and release the page.
    private var pageOffsets: [UInt64] = []
    /// The cached blocks. The first read of a block stores only its offset here; the second read adds its bytes.
    private var blocks: [(offset: UInt64, bytes: [UInt8])?] = []

    func page(at offset: UInt64) -> Page? {
        guard !pages.isEmpty else { return nil }
        let first = firstSlot(ofPageAt: offset)
        for slot in first..<first + PageCache.ways where pageOffsets[slot] == offset { return pages[slot] }
        return nil
    }

    mutating func keep(_ page: Page, at offset: UInt64) {
        while true {
            if !pages.isEmpty {
                let first = firstSlot(ofPageAt: offset)
                for slot in first..<first + PageCache.ways where pageOffsets[slot] == 0 {
                    pages[slot] = page
                    pageOffsets[slot] = offset
                    return
                }
                guard pages.count * 2 <= limit else {
                    let slot = first + Int(offset / Limits.alignment) % PageCache.ways
                    pages[slot] = page
                    pageOffsets[slot] = offset
                    return
                }
            }
            grow()
        }
    }

    private mutating func grow() {
        let oldPages = pages
        let oldOffsets = pageOffsets
        let count = max(PageCache.ways, pages.count * 2)
        pages = Array(repeating: nil, count: count)
        pageOffsets = Array(repeating: 0, count: count)
        for (page, offset) in zip(oldPages, oldOffsets) where offset != 0 {
            let first = firstSlot(ofPageAt: offset)
            // Doubling the cache splits each group of slots in two, so each page's new group has a free slot.
            guard let slot = (first..<first + PageCache.ways).first(where: { pageOffsets[$0] == 0 }) else { continue }
            pages[slot] = page
            pageOffsets[slot] = offset
        }
    }

    /// Returns the first slot of the group in which a page may be stored. The number of groups is a power of two, so
    /// the highest bits of a product are the group's number (Knuth's multiplicative hashing).
    private func firstSlot(ofPageAt offset: UInt64) -> Int {
        let bits = (pages.count / PageCache.ways).trailingZeroBitCount
        let product = (offset / Limits.alignment) &* 0x9E37_79B9_7F4A_7C15
        return Int(bits == 0 ? 0 : product >> UInt64(64 - bits)) * PageCache.ways
    }

    /// Copies sealed bytes of the log into a buffer. Bytes after `end`, the log's end, are not cached because they may
    /// still change. Throws `damaged` if the file ends before the requested bytes do.
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
            // The first read of a block does not cache its bytes: a short-lived process may never read them again.
            blocks[slot] = (start, [])
        }
        guard try store.read(into: buffer, at: offset) == buffer.count else { throw .cut(at: offset) }
    }
}
