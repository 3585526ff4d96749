import LinuxSystem
import Sealing

// The encoding of records; see Format.md, "Record".

/// The 16 bytes that identify a record or a header, together with the whole history before it.
package struct Authenticator: Hashable, Sendable {
    package static let size = 16

    private let low: UInt64
    private let high: UInt64

    /// The authenticator that is used if there is no record: 16 zero bytes.
    package static let zero = [UInt8](repeating: 0, count: size).withUnsafeBytes { Authenticator($0) }

    /// Reads the first 16 bytes of the buffer, which must contain at least that many.
    package init(_ bytes: UnsafeRawBufferPointer) {
        low = bytes.loadUnaligned(as: UInt64.self)
        high = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: (low, high), body)
    }

    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// A point in the history: the sequence number of a record or header, and its authenticator.
package struct LogPosition: Hashable, Sendable {
    package let sequence: UInt64
    package let authenticator: Authenticator

    package init(sequence: UInt64, authenticator: Authenticator) {
        self.sequence = sequence
        self.authenticator = authenticator
    }
}

/// The number of entries in the vault, and its size. Every record states these totals, so readers need not count.
package struct Totals: Hashable, Sendable {
    /// The number of entries that have not been removed.
    package var entries: UInt64 = 0
    /// The total size of all entries in bytes; see ``Entry/footprint``.
    package var liveBytes: UInt64 = 0
    /// The number of bytes that compaction would free.
    package var deadBytes: UInt64 = 0

    package init(entries: UInt64 = 0, liveBytes: UInt64 = 0, deadBytes: UInt64 = 0) {
        self.entries = entries
        self.liveBytes = liveBytes
        self.deadBytes = deadBytes
    }

    package mutating func replace(_ old: Entry?, with new: Entry) {
        if let old {
            if !old.isRemoved { entries -= min(entries, 1) }
            let footprint = old.footprint
            liveBytes -= min(liveBytes, footprint)
            // The old entry's boxes that the new entry still uses, for example as history, do not become dead bytes.
            deadBytes &+= footprint - old.boxBytes { new.has($0) }
        }
        if !new.isRemoved { entries &+= 1 }
        liveBytes &+= new.footprint
    }
}

/// The unsealed start of a record. It states the lengths of the index and the payload.
package struct Frame: Hashable, Sendable {
    package static let magic: [UInt8] = Array("vrec".utf8)
    package static let size = 24
    /// The frame's size, rounded up to the alignment of records.
    package static let alignedSize = 32
    package static let headSize = size + Nonce.size
    private static let checkedSize = 16

    package let indexLength: Int
    package let payloadLength: UInt64

    package init(indexLength: Int, payloadLength: UInt64) {
        self.indexLength = indexLength
        self.payloadLength = payloadLength
    }

    package var recordLength: UInt64 { UInt64(Frame.headSize + indexLength) + payloadLength }
}

extension Frame {
    /// Parses a frame. Returns nil if the magic or the checksum does not match, or if a length is out of range.
    package init?(_ bytes: UnsafeRawBufferPointer, vaultID: [UInt8]) {
        guard bytes.count >= Frame.size, bytes.starts(with: Frame.magic) else { return nil }
        let index: UInt32 = bytes.integer(at: 4)
        let payload: UInt64 = bytes.integer(at: 8)
        let checked = UnsafeRawBufferPointer(rebasing: bytes[..<Frame.checkedSize])
        let sum = try? vaultID.withUnsafeBytes { try ShortHash.hash(checked, key: $0) }
        guard sum == bytes.integer(at: Frame.checkedSize), index.isMultiple(of: 16), index >= 32,
            index <= Limits.indexSize, payload.isMultiple(of: 16), payload < Limits.payloadSize
        else { return nil }
        self.init(indexLength: Int(index), payloadLength: payload)
    }

    package func encoded(vaultID: [UInt8]) throws(LogError) -> [UInt8] {
        var writer = ByteWriter(reserving: Frame.headSize)
        writer.append(Frame.magic)
        writer.integer(UInt32(indexLength))
        writer.integer(payloadLength)
        let sum = try writer.bytes.withRawBytes { (bytes) throws(LogError) in
            try vaultID.withRawBytes { (key) throws(LogError) in try translated(ShortHash.hash(bytes, key: key)) }
        }
        writer.integer(sum)
        return writer.bytes
    }
}

/// The contents of a record's sealed index.
package struct RecordIndex: Hashable, Sendable {
    package struct Tree: Hashable, Sendable {
        package let header: Authenticator
        package let root: PageReference
        package let entries: UInt64

        package init(header: Authenticator, root: PageReference, entries: UInt64) {
            self.header = header
            self.root = root
            self.entries = entries
        }
    }

    package var sequence: UInt64
    package var previous: Authenticator
    package var payloadHash: [UInt8]
    /// Whether the record announces that a compacted file will replace this file.
    package var isNotice = false
    package var totals: Totals
    package var transactions: [[Entry]] = []
    package var tree: Tree?
    /// The start of the hash of the name to which the vault was bound at the time of writing; nil if it was not bound.
    package var name: [UInt8]?

    package init(
        sequence: UInt64, previous: Authenticator, payloadHash: [UInt8], isNotice: Bool = false, totals: Totals,
        transactions: [[Entry]] = [], tree: Tree? = nil, name: [UInt8]? = nil
    ) {
        self.sequence = sequence
        self.previous = previous
        self.payloadHash = payloadHash
        self.isNotice = isNotice
        self.totals = totals
        self.transactions = transactions
        self.tree = tree
        self.name = name
    }

    /// Returns the offset at which the last box or root page of the payload ends; `start` if the payload has neither.
    package func namedEnd(ofPayloadAt start: UInt64) -> UInt64 {
        if let root = tree?.root { return root.box.upperBound }
        let versions = transactions.joined().flatMap(\.versions)
        return versions.filter { $0.offset >= start }.map(\.box.upperBound).max() ?? start
    }
}

package struct Record: Sendable {
    package let offset: UInt64
    package let frame: Frame
    package let index: RecordIndex
    package let authenticator: Authenticator

    package init(offset: UInt64, frame: Frame, index: RecordIndex, authenticator: Authenticator) {
        self.offset = offset
        self.frame = frame
        self.index = index
        self.authenticator = authenticator
    }

    package var previous: LogPosition { LogPosition(sequence: index.sequence - 1, authenticator: index.previous) }
    package var position: LogPosition { LogPosition(sequence: index.sequence, authenticator: authenticator) }
    package var end: UInt64 { offset + frame.recordLength }
    package var payload: Range<UInt64> { end - frame.payloadLength..<end }
}

extension RecordIndex {
    private static let treeFlag: UInt8 = 1
    private static let noticeFlag: UInt8 = 2
    private static let nameFlag: UInt8 = 4

    package init(parsing bytes: [UInt8]) throws(Malformed) {
        var reader = ByteReader(bytes)
        sequence = try reader.integer()
        guard (1..<Limits.recordSequence).contains(sequence) else { throw Malformed("a sequence number") }
        previous = try reader.authenticator()
        payloadHash = try reader.array(KeyedHash.size)
        let flags = try reader.byte()
        let known = RecordIndex.treeFlag | RecordIndex.noticeFlag | RecordIndex.nameFlag
        guard flags & ~known == 0 else { throw Malformed("a record's flags") }
        isNotice = flags & RecordIndex.noticeFlag != 0
        if flags & RecordIndex.nameFlag != 0 { name = try reader.array(BoundName.markSize) }
        totals = try reader.totals()
        // Each transaction or entry takes a byte or more. The limits keep forged counts from causing large allocations.
        transactions = try reader.list(upTo: reader.remaining) { (reader) throws(Malformed) in
            try reader.list(upTo: reader.remaining) { (reader) throws(Malformed) in try reader.entry() }
        }
        if flags & RecordIndex.treeFlag != 0 {
            tree = Tree(
                header: try reader.authenticator(), root: try reader.pageReference(), entries: try reader.varint())
            guard transactions.isEmpty, !isNotice else { throw Malformed("a tree together with transactions") }
        }
        guard !isNotice || transactions.isEmpty else { throw Malformed("a notice with transactions") }
        try reader.finish()
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter(reserving: 192)
        writer.integer(sequence)
        writer.authenticator(previous)
        writer.append(payloadHash)
        writer.byte(
            (tree == nil ? 0 : RecordIndex.treeFlag) | (isNotice ? RecordIndex.noticeFlag : 0)
                | (name == nil ? 0 : RecordIndex.nameFlag))
        if let name { writer.append(name) }
        writer.totals(totals)
        writer.list(transactions) { $0.list($1) { $0.entry($1) } }
        if let tree {
            writer.authenticator(tree.header)
            writer.pageReference(tree.root)
            writer.varint(tree.entries)
        }
        writer.pad()
        return writer.bytes
    }
}

extension ByteReader {
    package mutating func authenticator() throws(Malformed) -> Authenticator {
        try withBytes(Authenticator.size) { .init($0) }
    }

    mutating func totals() throws(Malformed) -> Totals {
        Totals(entries: try varint(), liveBytes: try varint(), deadBytes: try varint())
    }
}

extension ByteWriter {
    package mutating func authenticator(_ authenticator: Authenticator) { authenticator.withUnsafeBytes { append($0) } }

    mutating func totals(_ totals: Totals) {
        varint(totals.entries)
        varint(totals.liveBytes)
        varint(totals.deadBytes)
    }
}
