/// The sealed part of a record; Format.md, "Record".
struct RecordIndex: Hashable, Sendable {
    /// The tree of a minor checkpoint.
    struct Tree: Hashable, Sendable {
        let header: Authenticator
        let root: PageReference
        let entries: UInt64
    }

    var sequence: UInt64
    var previous: Authenticator
    var payloadHash: [UInt8]
    /// Whether a compacted file is about to take this one's place.
    var isNotice = false
    var totals: Totals
    var transactions: [[Entry]] = []
    var tree: Tree?
}

extension RecordIndex {
    private static let hashSize = 32
    private static let treeFlag: UInt8 = 1
    private static let noticeFlag: UInt8 = 2

    init(parsing bytes: [UInt8]) throws(Malformed) {
        try self.init(parsing: ByteReader(bytes))
    }

    init(parsing bytes: ByteReader) throws(Malformed) {
        var reader = bytes
        sequence = try reader.integer()
        previous = try reader.authenticator()
        payloadHash = try reader.array(RecordIndex.hashSize)
        let flags = try reader.byte()
        guard flags & ~(RecordIndex.treeFlag | RecordIndex.noticeFlag) == 0 else { throw Malformed("a record's flags") }
        isNotice = flags & RecordIndex.noticeFlag != 0
        totals = try reader.totals()
        // An entry takes at least four bytes, a transaction one; the bounds keep a count from reserving the memory.
        for _ in 0..<(try reader.count(upTo: reader.remaining)) {
            var entries: [Entry] = []
            for _ in 0..<(try reader.count(upTo: reader.remaining)) { entries.append(try reader.entry()) }
            transactions.append(entries)
        }
        if flags & RecordIndex.treeFlag != 0 {
            tree = Tree(
                header: try reader.authenticator(), root: try reader.pageReference(), entries: try reader.varint())
            guard transactions.isEmpty, !isNotice else { throw Malformed("a tree beside transactions") }
        }
        guard !isNotice || transactions.isEmpty else { throw Malformed("a notice with transactions") }
        try reader.finish()
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(reserving: 192)
        writer.integer(sequence)
        writer.authenticator(previous)
        writer.append(payloadHash)
        writer.byte((tree == nil ? 0 : RecordIndex.treeFlag) | (isNotice ? RecordIndex.noticeFlag : 0))
        writer.totals(totals)
        writer.varint(transactions.count)
        for entries in transactions {
            writer.varint(entries.count)
            for entry in entries { writer.entry(entry) }
        }
        if let tree {
            writer.authenticator(tree.header)
            writer.pageReference(tree.root)
            writer.varint(tree.entries)
        }
        writer.pad()
        return writer.bytes
    }
}
