import LinuxSystem
import Sealing

/// The entries of the records since the newest checkpoint, by name.
struct RecentEntries: Sendable {
    private var entries: [Entry] = []
    /// Indices into `entries`, ordered by name: an insertion moves four bytes per entry instead of a whole entry.
    private var order: [Int32] = []

    var count: Int { order.count }
    var isEmpty: Bool { order.isEmpty }

    subscript(position: Int) -> Entry { entries[Int(order[position])] }

    /// Returns the first position whose name is not before `name`.
    func position(of name: UnsafeRawBufferPointer) -> (index: Int, isFound: Bool) {
        // Through spans: an array's subscript would retain and release each compared name.
        let (entries, order) = (entries.span, order.span)
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            let relation = entries[Int(order[middle])].name.bytes.span.bytes.withUnsafeBytes { $0.order(to: name) }
            if relation == 0 { return (middle, true) }
            if relation < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    func find(_ name: UnsafeRawBufferPointer) -> Entry? {
        guard !isEmpty else { return nil }
        let (index, isFound) = position(of: name)
        return isFound ? self[index] : nil
    }

    func find(_ name: EntryName) -> Entry? {
        name.bytes.withUnsafeBytes(find)
    }

    mutating func insert(_ entry: Entry) {
        let (index, isFound) = entry.name.bytes.withUnsafeBytes(position)
        if isFound {
            entries[Int(order[index])] = entry
        } else {
            order.insert(Int32(entries.count), at: index)
            entries.append(entry)
        }
    }

    mutating func removeAll() {
        self = RecentEntries()
    }
}

/// Reads and opens pages.
struct PageLoader: Sendable {
    let store: any RecordStore
    let keys: KeyRing

    /// - Parameter level: the level that the page must have; nil for a root.
    /// - Throws: `damaged`, `unavailable`.
    func load(_ reference: PageReference, level: UInt8?) throws(LogError) -> Page {
        let box = try store.bytes(at: reference.offset, count: reference.length)
        guard let bytes = box.withUnsafeBytes({ keys.open($0, for: .page, nonce: reference.nonce) }) else {
            throw LogError.damaged("a page of the index", at: reference.offset)
        }
        do throws(Malformed) {
            let page = try Page(parsing: bytes)
            guard level == nil || page.level == level else { throw Malformed("a page's level") }
            return page
        } catch { throw LogError.damaged("a page of the index (\(error.what))", at: reference.offset) }
    }
}

/// Keeps opened pages and sealed bytes. Neither changes during the lifetime of its file.
///
/// Each has one possible slot, found without hashing. It takes at most 4 MiB for pages and 2 MiB for blocks.
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
    private static func slot(ofPageAt offset: UInt64) -> Int {
        Int(offset / 4_096 % UInt64(pageSlots))
    }

    /// Copies sealed bytes of the log.
    ///
    /// - Parameter end: the log's end. Bytes beyond it may still change and are not kept.
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
            // A process that reads only one value, such as the command, should not read a whole block.
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
        guard try store.read(into: buffer, at: offset) == buffer.count else { throw .cut(at: offset) }
    }
}
