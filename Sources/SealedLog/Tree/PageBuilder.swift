/// Gathers the cells of one page.
struct PageBuilder {
    private static let capacity = Limits.pageSize - 16
    private static let headSize = 4

    let level: UInt8
    private var cells = ByteWriter(reserving: Limits.pageSize)
    private var starts: [Int] = []
    private(set) var firstName: EntryName?

    init(level: UInt8) {
        self.level = level
    }

    var isEmpty: Bool { starts.isEmpty }

    func hasRoom(for cell: [UInt8]) -> Bool {
        PageBuilder.headSize + (starts.count + 1) * 2 + cells.count + cell.count <= PageBuilder.capacity
    }

    mutating func add(_ cell: [UInt8], name: EntryName) {
        if isEmpty { firstName = name }
        starts.append(cells.count)
        cells.append(cell)
    }

    /// The page's plaintext.
    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: Limits.pageSize)
        writer.byte(level)
        writer.byte(0)
        writer.integer(UInt16(starts.count))
        let offset = PageBuilder.headSize + starts.count * 2
        for start in starts { writer.integer(UInt16(offset + start)) }
        writer.append(cells.bytes)
        writer.pad()
        return writer.bytes
    }
}
