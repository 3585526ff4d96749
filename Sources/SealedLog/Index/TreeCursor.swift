import LinuxSystem
import Sealing

/// Iterates over the entries of a tree in the order of their names. It keeps one page per level in memory.
struct TreeCursor {
    private struct Position {
        let page: Page
        let offset: UInt64
        var index: Int
        let bounds: NameRange
    }

    private let loader: PageLoader
    private var stack: [Position] = []
    private var lastName: EntryName?
    /// The locations of the pages read so far.
    private(set) var pages: [Range<UInt64>] = []

    /// - Parameter start: entries before this name are skipped.
    init(root: PageReference?, loader: PageLoader, from start: [UInt8] = []) throws(LogError) {
        self.loader = loader
        guard let root else { return }
        try descend(to: root, level: nil, from: start, within: NameRange())
    }

    /// Returns the next entry; nil at the end.
    ///
    /// - Throws: `damaged`, also for names that are out of order.
    mutating func next() throws(LogError) -> Entry? {
        while let top = stack.last {
            guard top.index < top.page.count else {
                stack.removeLast()
                continue
            }
            stack[stack.count - 1].index += 1
            guard top.page.isLeaf else {
                let (child, bounds) = try child(of: top)
                try descend(to: child, level: top.page.level - 1, from: [], within: bounds)
                continue
            }
            let entry = try at(top) { (page) throws(Malformed) in try page.entry(top.index) }
            guard lastName.map({ $0 < entry.name }) ?? true, top.bounds.contains(entry.name) else {
                throw LogError.damaged("a page of the index (the order of names)", at: top.offset)
            }
            lastName = entry.name
            return entry
        }
        return nil
    }

    private mutating func descend(
        to root: PageReference, level: UInt8?, from start: [UInt8], within bounds: NameRange
    ) throws(LogError) {
        var (reference, level, bounds) = (root, level, bounds)
        while true {
            pages.append(reference.offset..<reference.offset + UInt64(reference.length))
            var position = Position(
                page: try loader.load(reference, level: level), offset: reference.offset, index: 0, bounds: bounds)
            let cell = try at(position) { (page) throws(Malformed) in
                try start.withRawBytes { (start) throws(Malformed) in try page.lastCell(notAfter: start) }
            }
            position.index = cell?.index ?? 0
            guard !position.page.isLeaf else {
                if let cell, !cell.isExact { position.index = cell.index + 1 }
                return stack.append(position)
            }
            (reference, bounds) = try child(of: position)
            level = position.page.level - 1
            position.index += 1
            stack.append(position)
        }
    }

    /// Returns the child in the cell at a position, and the names that the cell and the next one allow in it.
    private func child(of position: Position) throws(LogError) -> (PageReference, NameRange) {
        try at(position) { (page) throws(Malformed) in
            let next = position.index + 1
            let upper = next < page.count ? try page.name(next) : position.bounds.upper
            return (
                try page.child(position.index), NameRange(lower: try page.name(position.index), upper: upper)
            )
        }
    }

    private func at<Result>(
        _ position: Position, _ body: (Page) throws(Malformed) -> Result
    ) throws(LogError) -> Result {
        do throws(Malformed) { return try body(position.page) } catch {
            throw LogError.damaged("a page of the index (\(error.what))", at: position.offset)
        }
    }
}

/// The names from `lower` on, and before `upper`.
struct NameRange: Hashable, Sendable {
    var lower: EntryName?
    var upper: EntryName?

    func contains(_ name: EntryName) -> Bool {
        lower.map { $0 <= name } ?? true && upper.map { name < $0 } ?? true
    }
}
