import LinuxSystem
import Sealing

/// Receives sealed bytes in sequence.
protocol ByteSink {
    /// The file offset of the next byte; a multiple of 16.
    var offset: UInt64 { get }
    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(LogError)
}

extension ByteSink {
    mutating func write(_ bytes: [UInt8]) throws(LogError) {
        try bytes.withRawBytes { (bytes) throws(LogError) in try write(bytes) }
    }
}

/// Builds a tree of sealed pages from entries in the order of their names. It keeps one page per level in memory.
struct TreeBuilder {
    private let keys: KeyRing
    private var nonces: NonceSource
    private var levels: [PageBuilder] = [PageBuilder(level: 0)]
    private(set) var count: UInt64 = 0

    init(keys: KeyRing, expecting entries: Int = 0) {
        self.keys = keys
        nonces = NonceSource(expected: entries / 128 + 1)
    }

    /// - Precondition: the entry's name is after all names before.
    mutating func add(_ entry: Entry, to sink: inout some ByteSink) throws(LogError) {
        var cell = ByteWriter(reserving: 128)
        cell.entry(entry)
        try add(cell.bytes, name: entry.name, level: 0, to: &sink)
        count += 1
    }

    /// Seals the unfinished pages, and returns the root; nil if there was no entry.
    mutating func finish(to sink: inout some ByteSink) throws(LogError) -> PageReference? {
        guard count > 0 else { return nil }
        var level = 0
        while level < levels.count - 1 {
            try flush(level, to: &sink)
            level += 1
        }
        return try write(levels[level], to: &sink)
    }

    private mutating func add(
        _ cell: [UInt8], name: EntryName, level: Int, to sink: inout some ByteSink
    ) throws(LogError) {
        if !levels[level].hasRoom(for: cell) { try flush(level, to: &sink) }
        levels[level].add(cell, name: name)
    }

    /// Seals the page of a level, and adds a reference to it in the level above.
    private mutating func flush(_ level: Int, to sink: inout some ByteSink) throws(LogError) {
        let page = levels[level]
        guard let firstName = page.firstName else { return }
        let reference = try write(page, to: &sink)
        levels[level] = PageBuilder(level: UInt8(level))
        if level + 1 == levels.count {
            guard level < Int(Limits.pageLevel) else { throw LogError(.invalid, "too many entries") }
            levels.append(PageBuilder(level: UInt8(level + 1)))
        }
        var cell = ByteWriter(reserving: firstName.bytes.count + 48)
        cell.name(firstName)
        cell.pageReference(reference)
        try add(cell.bytes, name: firstName, level: level + 1, to: &sink)
    }

    private mutating func write(_ page: PageBuilder, to sink: inout some ByteSink) throws(LogError) -> PageReference {
        let nonce = nonces.next()
        let box = try keys.seal(page.encoded, for: .page, nonce: nonce)
        let reference = PageReference(offset: sink.offset, length: box.count, nonce: nonce)
        try sink.write(box)
        return reference
    }
}
