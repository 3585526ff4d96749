import Sealing

/// A search for all authentic records after an offset, regardless of the bytes between them.
struct RecordScan {
    private static let pieceSize = 1 << 20

    /// The records found, each at its first offset. Duplicates are dropped, since they could exhaust the memory.
    private(set) var records: [Record] = []
    private var positions: Set<LogPosition> = []
    /// The offset at which the search was aborted; nil if it reached the end of the file.
    private var stop: UInt64?
    private var view: LogView
    private var reader: RecordReader
    private let size: UInt64
    /// Byte budgets for frames that fail authentication, and for finding an index's length. Damaged records need little
    /// of them, but overlapping forged frames could otherwise cost 1 MiB each, and each search for a length 9 MiB.
    private var frameBudget = 256 << 20
    private var lengthBudget = 256 << 20
    private var piece: [UInt8] = []
    private var pieceOffset: UInt64 = 0

    init(of view: LogView, from start: UInt64, _ counter: UpkeepProgress?) throws(LogError) {
        self.view = view
        reader = view.reader
        size = try view.store.size()
        var offset = start
        var isExpected = true
        while offset < size {
            let from = offset
            if let record = try record(at: offset, isExpected: isExpected) {
                if positions.insert(record.position).inserted { records.append(record) }
                offset = record.end
                isExpected = true
            } else {
                guard stop == nil, let next = try nextFrame(from: offset + Limits.alignment) else { return }
                offset = next
                isExpected = false
            }
            counter?.advance(by: offset - from)
        }
    }

    /// Returns the damage after the last record, if any. Drops a torn last record, since it was never acknowledged.
    mutating func classifyEnd() throws(LogError) -> String? {
        if let stop { return "more forged records than can be searched, at byte \(stop)" }
        if let last = records.last, try !reader.payloadHolds(last) {
            view.end = last.offset
            if try fault(.failing("")) == nil {
                records.removeLast()
                return nil
            }
        }
        view.end = records.last?.end ?? view.end
        guard size < view.end || size - view.end <= Limits.tailSize else {
            return "more bytes than a record can have, after byte \(view.end)"
        }
        return try fault(reader.record(at: view.end, after: nil))
    }

    private mutating func fault(_ ending: RecordReader.Finding) throws(LogError) -> String? {
        do throws(LogError) { try view.examineTail(ending) } catch {
            guard error.code == .damaged else { throw error }
            return error.detail
        }
        return nil
    }

    /// Reads the record at an offset. If `isExpected`, the previous record ends there, and a damaged frame is accepted.
    private mutating func record(at offset: UInt64, isExpected: Bool) throws(LogError) -> Record? {
        switch try reader.record(at: offset, after: nil) {
        case .record(let record): return record
        case .nothing: return nil
        case .failing, .foreign:
            let head = try view.store.available(at: offset, upTo: Frame.size)
            if let frame = head.withUnsafeBytes({ Frame($0, vaultID: reader.vaultID) }) {
                frameBudget -= max(frame.indexLength, 4 << 10)
                guard frameBudget >= 0 else {
                    stop = offset
                    return nil
                }
            }
            return isExpected ? try reader.recordBehindFrame(at: offset, &lengthBudget) : nil
        }
    }

    private mutating func nextFrame(from start: UInt64) throws(LogError) -> UInt64? {
        let vaultID = reader.vaultID
        var offset = start
        while true {
            let index = offset >= pieceOffset ? Int(clamping: offset - pieceOffset) : .max
            if index < piece.count {
                let found = piece.withUnsafeBytes { bytes in
                    bytes.recordMagics(from: index).first {
                        Frame(UnsafeRawBufferPointer(rebasing: bytes[$0...]), vaultID: vaultID) != nil
                    }
                }
                if let found { return pieceOffset + UInt64(found) }
                guard piece.count == RecordScan.pieceSize else { return nil }
                // Consecutive pieces of the file overlap, since a frame may cross from one piece into the next.
                offset = max(offset, pieceOffset + UInt64(RecordScan.pieceSize - Frame.alignedSize))
            }
            guard let data = try view.store.nextData(from: offset) else { return nil }
            pieceOffset = max(offset, data & ~(Limits.alignment - 1))
            piece = try view.store.available(at: pieceOffset, upTo: RecordScan.pieceSize)
            offset = pieceOffset
            if piece.count < Frame.size { return nil }
        }
    }
}

extension RecordReader {
    /// Reads a record whose frame, which contains the index's length, is damaged. Instead, lengths are tried, within
    /// the budget, until the index's authentication succeeds. The index also determines where the payload ends.
    fileprivate mutating func recordBehindFrame(at offset: UInt64, _ budget: inout Int) throws(LogError) -> Record? {
        // Longer indices are hardly ever created, and trying all lengths takes time quadratic in the longest one.
        let limit = Limits.inlineIndexSize + 1 << 10
        let bytes = Array(try bytes(at: offset, upTo: Frame.headSize + limit))
        guard bytes.count > Frame.headSize else { return nil }
        let nonce = RecordReader.nonce(inHead: bytes[..<Frame.headSize])
        for length in stride(from: 32, through: bytes.count - Frame.headSize, by: 16) {
            guard budget >= length else { return nil }
            budget -= length
            let box = bytes[Frame.headSize..<Frame.headSize + length]
            guard let plaintext = box.withUnsafeBytes({ keys.open($0, for: .record, nonce: nonce) }) else { continue }
            guard let index = try? RecordIndex(parsing: plaintext) else { return nil }
            let start = offset + UInt64(Frame.headSize + length)
            let end = index.namedEnd(ofPayloadAt: start)
            guard end >= start, end - start < Limits.payloadSize else { return nil }
            return Record(
                offset: offset, frame: Frame(indexLength: length, payloadLength: end - start), index: index,
                authenticator: box.withUnsafeBytes { Authenticator($0) })
        }
        return nil
    }
}
