import TestSupport

@testable import SealedFormat

/// A vault file taken apart as anyone can who has no key: into its header and checkpoint, its records, and the rest.
struct RecordList {
    let bytes: [UInt8]
    /// Where each record lies.
    let records: [Range<Int>]

    /// Where the first record lies.
    var start: Int { Int(little(at: 120)) }
    /// Where the log ends.
    var end: Int { records.last?.upperBound ?? start }

    init(_ path: String) throws {
        self.init(bytes: try contents(path))
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
        var found: [Range<Int>] = []
        func little(at offset: Int, _ count: Int = 8) -> Int {
            bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        var offset = little(at: 120)
        while offset + Frame.headSize <= bytes.count, bytes[offset..<offset + 4].elementsEqual(Frame.magic) {
            let end = offset + Frame.headSize + little(at: offset + 4, 4) + little(at: offset + 8)
            found.append(offset..<end)
            offset = end
        }
        records = found
    }

    private func little(at offset: Int) -> UInt64 {
        bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The bytes of a record.
    subscript(index: Int) -> [UInt8] { Array(bytes[records[index]]) }

    /// A file with these records behind the same checkpoint, and zeros behind them.
    func file(with records: [[UInt8]]) -> [UInt8] {
        let log = records.flatMap { $0 }
        let zeros = max(0, bytes.count - start - log.count)
        return Array(bytes[..<start]) + log + [UInt8](repeating: 0, count: zeros)
    }

    var all: [[UInt8]] { records.indices.map { self[$0] } }
}
