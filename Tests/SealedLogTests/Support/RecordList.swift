import TestSupport

@testable import SealedLog

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
        func little(at place: Int, _ count: Int = 8) -> Int {
            bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        var place = little(at: 120)
        while place + Frame.headSize <= bytes.count, bytes[place..<place + 4].elementsEqual(Frame.magic) {
            let end = place + Frame.headSize + little(at: place + 4, 4) + little(at: place + 8)
            found.append(place..<end)
            place = end
        }
        records = found
    }

    private func little(at place: Int) -> UInt64 {
        bytes[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
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
