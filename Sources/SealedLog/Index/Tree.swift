import LinuxSystem
import Sealing

/// A reader that opens pages. Its methods throw `damaged` or `unavailable`.
struct PageLoader: Sendable {
    let store: any RecordStore
    let keys: KeyRing

    /// Reads and opens a page. `what` names the page in an error message.
    func open(_ reference: PageReference, _ what: String) throws(LogError) -> [UInt8] {
        try store.rereading { () throws(LogError) in
            let box = try store.bytes(at: reference.offset, count: reference.length)
            let bytes = box.withUnsafeBytes { keys.open($0, for: .page, nonce: reference.nonce) }
            guard let bytes else { throw .damaged(what, at: reference.offset) }
            box.withUnsafeBytes { store.machineCopy?.confirm($0, at: reference.offset) }
            return bytes
        }
    }

    /// Reads a page of a tree. Throws `damaged` if its level is not `level`, unless `level` is nil, as for a root.
    func load(_ reference: PageReference, level: UInt8?) throws(LogError) -> Page {
        let page = try Page(parsing: try open(reference, "a page of the index"), at: reference.offset)
        guard level == nil || page.level == level else { throw page.damaged("a page's level") }
        return page
    }
}

/// An iterator over the entries of a tree, sorted by name. It keeps one page per level in memory.
struct TreeCursor: Sendable {
    private struct Position: Sendable {
        let page: Page
        var index: Int
        let bounds: NameRange
    }

    private let loader: PageLoader
    /// The inner pages above the leaf, each with the index of its next child.
    private var stack: [Position] = []
    private var leaf: Page?
    private var leafIndex = 0
    private var leafCount = 0
    private var lastName: EntryName?
    /// The file ranges of the pages that this cursor has read so far.
    private(set) var pages: [Range<UInt64>] = []

    /// Creates a cursor at the first entry whose name is at or after `start`.
    init(root: PageReference?, loader: PageLoader, from start: [UInt8] = []) throws(LogError) {
        self.loader = loader
        if let root { try descend(to: root, level: nil, from: start, within: NameRange()) }
    }

    /// Returns the next entry; nil at the end. Also throws `damaged` if names are out of order.
    mutating func next() throws(LogError) -> Entry? { try nextItem() }

    mutating func nextItem<Item: MergedItem>() throws(LogError) -> Item? {
        while leafIndex == leafCount {
            guard let top = stack.popLast() else { return nil }
            if top.index < top.page.count { try descend(into: top, from: []) }
        }
        defer { leafIndex += 1 }
        return try leaf.map { (leaf) throws(LogError) in try Item(in: leaf, at: leafIndex) }
    }

    private mutating func descend(
        to reference: PageReference, level: UInt8?, from start: [UInt8], within bounds: NameRange
    ) throws(LogError) {
        pages.append(reference.box)
        let page = try loader.load(reference, level: level)
        if page.isLeaf { lastName = try page.checkedLastName(after: lastName, within: bounds) }
        let cell = try start.withRawBytes { (start) throws(LogError) in try page.lastCell(notAfter: start) }
        if page.isLeaf {
            leaf = page
            leafIndex = cell.map { $0.isExact ? $0.index : $0.index + 1 } ?? 0
            leafCount = page.count
        } else {
            try descend(into: Position(page: page, index: cell?.index ?? 0, bounds: bounds), from: start)
        }
    }

    /// Descends to the next child of an inner page. The child's names must be at or after the name in its cell, and
    /// before the name in the next cell.
    private mutating func descend(into position: Position, from start: [UInt8]) throws(LogError) {
        let page = position.page
        let index = position.index
        stack.append(Position(page: page, index: index + 1, bounds: position.bounds))
        let upper = index + 1 < page.count ? try page.name(index + 1) : position.bounds.upper
        let child = try page.child(index)
        let lower = try page.name(index)
        try descend(to: child, level: page.level - 1, from: start, within: NameRange(lower: lower, upper: upper))
    }
}

/// A buffer for consecutive sealed bytes. It keeps them in memory, or writes them to a store in chunks of 1 MiB.
struct ByteSink: ~Copyable {
    private static let size = 1 << 20

    /// The bytes that are not in the store yet, and the file offset of the first of them.
    private var bytes: [UInt8] = []
    private var start: UInt64
    private let store: (any RecordStore)?
    /// The hash of a record's payload; nil if the bytes are not a payload.
    private var payloadHash: RunningHash?
    /// The bytes from the payload's start to the next sector boundary, and the offset of that boundary.
    private var first: [UInt8] = []
    private let firstEnd: UInt64

    init(start: UInt64, store: any RecordStore) {
        self.start = start
        self.store = store
        firstEnd = start
        payloadHash = nil
    }

    /// Creates a buffer for a record's payload. The bytes before the first sector boundary are kept in memory.
    init(payloadAt start: UInt64, in store: (any RecordStore)?) {
        self.start = start
        self.store = store
        firstEnd = (start / Limits.sector + 1) * Limits.sector
        payloadHash = RunningHash()
    }

    /// The file offset of the next byte; a multiple of 16.
    var offset: UInt64 { start + UInt64(bytes.count) }

    mutating func write(_ more: some Collection<UInt8>) throws(LogError) {
        var rest = more[...]
        while !rest.isEmpty {
            let piece = rest.prefix(ByteSink.size)
            bytes.append(contentsOf: piece)
            rest = rest[piece.endIndex...]
            if bytes.count >= ByteSink.size { try flush() }
        }
    }

    mutating func flush() throws(LogError) {
        guard let store else { return }
        let kept = start < firstEnd ? min(Int(firstEnd - start), bytes.count) : 0
        first += bytes[..<kept]
        try bytes.withRawBytes { (bytes) throws(LogError) in
            try store.write(UnsafeRawBufferPointer(rebasing: bytes[kept...]), at: start + UInt64(kept))
        }
        bytes.withUnsafeBytes { payloadHash?.update($0) }
        start = offset
        bytes.removeAll(keepingCapacity: true)
    }

    /// Returns the part of the payload that is not in the store yet, and the hash of the whole payload.
    consuming func finishPayload() throws(LogError) -> (bytes: [UInt8], hash: [UInt8]) {
        // If none of the payload has been written yet, the caller writes all of it together with the record's head.
        if !first.isEmpty { try flush() } else { bytes.withUnsafeBytes { payloadHash?.update($0) } }
        return (first.isEmpty ? bytes : first, payloadHash.take()?.finish() ?? [])
    }

    mutating func write(page: [UInt8], _ nonce: Nonce, _ keys: KeyRing) throws(LogError) -> PageReference {
        let box = try keys.seal(page, for: .page, nonce: nonce)
        let reference = PageReference(offset: offset, length: box.count, nonce: nonce)
        try write(box)
        return reference
    }
}

/// A builder that turns entries, sorted by name, into a tree of sealed pages. It keeps one page per level in memory.
struct TreeBuilder {
    private let keys: KeyRing
    private var nonces = NonceSource()
    private var levels: [PageBuilder] = [PageBuilder()]
    private(set) var count: UInt64 = 0

    init(keys: KeyRing) { self.keys = keys }

    /// Adds an entry, whose name must sort after the names of all earlier entries.
    mutating func add(_ entry: Entry, to sink: inout ByteSink) throws(LogError) {
        try add(entry.name, level: 0, to: &sink) { $0.entry(entry) }
        count += 1
    }

    /// Seals the unfinished pages and returns the root; nil if the tree has no entries.
    mutating func finish(to sink: inout ByteSink) throws(LogError) -> PageReference? {
        guard count > 0 else { return nil }
        var level = 0
        while level < levels.count - 1 {
            try flush(level, to: &sink)
            level += 1
        }
        return try sink.write(page: levels[level].encoded(level: level), nonces.next(), keys)
    }

    private mutating func add(
        _ name: EntryName, level: Int, to sink: inout ByteSink, _ write: (inout ByteWriter) -> Void
    ) throws(LogError) {
        if levels[level].add(name, write) { return }
        try flush(level, to: &sink)
        guard levels[level].add(name, write) else { throw LogError(.invalid, "an entry is larger than a page") }
    }

    /// Seals the page of a level, and adds a reference to that page in the level above.
    private mutating func flush(_ level: Int, to sink: inout ByteSink) throws(LogError) {
        guard let firstName = levels[level].firstName else { return }
        let reference = try sink.write(page: levels[level].encoded(level: level), nonces.next(), keys)
        levels[level] = PageBuilder()
        if level + 1 == levels.count {
            guard level < Int(Limits.pageLevel) else { throw LogError(.invalid, "too many entries") }
            levels.append(PageBuilder())
        }
        try add(firstName, level: level + 1, to: &sink) {
            $0.name(firstName)
            $0.pageReference(reference)
        }
    }
}
