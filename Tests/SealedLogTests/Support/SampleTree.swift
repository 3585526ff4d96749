import TestSupport

@testable import SealedFormat
@testable import SealedLog

/// A tree of sealed pages in memory, built of entries.
struct SampleTree {
    let store: any RecordStore
    let keys: KeyRing
    let entries: [Entry]
    let root: PageReference?
    var loader: PageLoader { PageLoader(store: store, keys: keys) }

    init(of entries: [Entry]) throws {
        store = MemoryStore()
        keys = try randomKeys()
        self.entries = entries
        var builder = TreeBuilder(keys: keys)
        var sink = ByteSink(start: 4_096, store: store)
        for entry in entries { try builder.add(entry, to: &sink) }
        root = try builder.finish(to: &sink)
        try sink.flush()
    }

    func cursor(from start: String = "") throws -> TreeCursor {
        try TreeCursor(root: root, loader: loader, from: Array(start.utf8))
    }

    func scan(from start: String = "") throws -> [Entry] {
        var cursor = try cursor(from: start)
        var found: [Entry] = []
        while let entry = try cursor.next() { found.append(entry) }
        return found
    }
}
