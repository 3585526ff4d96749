import LinuxSystem
import Sealing

extension LogView {
    /// The newest entry of a name, a tombstone too; nil if there never was one.
    ///
    /// - Throws: `damaged`, `unavailable`.
    mutating func find(_ name: EntryName) throws(LogError) -> Entry? {
        if let entry = recent.find(name) { return entry }
        return try name.bytes.withRawBytes { (name) throws(LogError) in
            try search(name) { (page, cell) throws(Malformed) in try page.entry(cell) }
        }
    }

    /// Where the value of a name lies; nil if it is absent.
    ///
    /// - Throws: `damaged`, `unavailable`.
    mutating func findVersion(_ name: UnsafeRawBufferPointer) throws(LogError) -> StoredVersion? {
        if let entry = recent.find(name) { return entry.content?.current }
        return try search(name) { (page, cell) throws(Malformed) in try page.currentVersion(cell) } ?? nil
    }

    /// Looks a name up in the trees, the newer one first; nil if it is in neither.
    private mutating func search<Result>(
        _ name: UnsafeRawBufferPointer, _ read: (Page, Int) throws(Malformed) -> Result
    ) throws(LogError) -> Result? {
        if let minor, let found = try search(name, below: minor.root, read) { return found }
        guard let root = header.root else { return nil }
        return try search(name, below: root, read)
    }

    private mutating func search<Result>(
        _ name: UnsafeRawBufferPointer, below root: PageReference, _ read: (Page, Int) throws(Malformed) -> Result
    ) throws(LogError) -> Result? {
        var (reference, level) = (root, UInt8?.none)
        while true {
            let page = try page(reference, level: level)
            do throws(Malformed) {
                guard let cell = try page.lastCell(notAfter: name) else { return nil }
                if page.isLeaf { return cell.isExact ? try read(page, cell.index) : nil }
                reference = try page.child(cell.index)
                level = page.level - 1
            } catch { throw LogError.damaged("a page of the index (\(error.what))", at: reference.offset) }
        }
    }

    private mutating func page(_ reference: PageReference, level: UInt8?) throws(LogError) -> Page {
        if let kept = cache.page(at: reference.offset) { return kept }
        let page = try loader.load(reference, level: level)
        cache.keep(page, at: reference.offset)
        return page
    }

    /// Copies the box of a value.
    mutating func copy(_ version: StoredVersion, into box: UnsafeMutableRawBufferPointer) throws(LogError) {
        try cache.copy(from: version.offset, into: box, of: store, end: end)
    }

    /// All entries from a name on, in the order of their names, tombstones too.
    func entries(from start: [UInt8] = []) throws(LogError) -> EntryMerge {
        EntryMerge(
            recent: [recent],
            trees: [
                try TreeCursor(root: minor?.root, loader: loader, from: start),
                try TreeCursor(root: header.root, loader: loader, from: start),
            ], from: start)
    }
}
