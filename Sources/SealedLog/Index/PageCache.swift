import LinuxSystem
import Sealing

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
