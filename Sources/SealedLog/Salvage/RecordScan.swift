/// Finds all authentic records from an offset on, whatever lies between them.
struct RecordScan {
    private static let pieceSize = 1 << 20

    /// Each once, at its first offset: copies of one would fill the memory.
    private(set) var records: [Record] = []
    private var positions: Set<LogPosition> = []
    /// Where the search was given up; nil if it came to the end of the file.
    private var stop: UInt64?
    private var view: LogView
    private var reader: RecordReader
    private let size: UInt64
    /// Bytes that may still be authenticated in vain. Records that are merely damaged take far less; frames that
    /// someone has forged to lie in each other would take their number times a mebibyte, and so would tries to find the
    /// length of an index.
    private var (frameBudget, lengthBudget) = (256 << 20, 256 << 20)
    /// What a frame costs at least.
    private static let frameCost = 4 << 10
    /// What was looked through last for frames.
    private var piece: [UInt8] = []
    private var pieceOffset: UInt64 = 0

    /// - Parameter view: before its first record.
    init(of view: LogView) throws(LogError) {
        self.view = view
        reader = RecordReader(store: view.store, keys: view.keys, vaultID: view.header.vaultID)
        size = try view.store.size()
    }

    mutating func run(from start: UInt64, _ counter: UpkeepProgress?) throws(LogError) {
        var (offset, isExpected) = (start, true)
        while offset < size {
            let from = offset
            if let record = try record(at: offset, isExpected: isExpected) {
                if positions.insert(record.position).inserted { records.append(record) }
                (offset, isExpected) = (record.end, true)
            } else {
                guard stop == nil, let next = try nextFrame(from: offset + Limits.alignment) else { return }
                (offset, isExpected) = (next, false)
            }
            counter?.advance(by: offset - from)
        }
    }

    /// What is wrong behind the last record, in words; nil if nothing is. A last record that was torn, and so never
    /// acknowledged, is dropped.
    mutating func judgeEnd() throws(LogError) -> String? {
        if let stop { return "more forged records than can be looked through, at byte \(stop)" }
        if let last = records.last, try !reader.payloadHolds(last) {
            view.end = last.offset
            if try fault(.doubtful("")) == nil {
                records.removeLast()
                return nil
            }
        }
        view.end = records.last?.end ?? view.end
        guard size < view.end || size - view.end <= Limits.tailSize else {
            return "more than a record takes, behind byte \(view.end)"
        }
        switch try reader.record(at: view.end, after: nil) {
        case .nothing, .record: return try fault(.clean)
        case .failing(let what): return try fault(.doubtful(what))
        case .foreign(let what): return try fault(.foreign(what))
        }
    }

    private mutating func fault(_ ending: LogView.Ending) throws(LogError) -> String? {
        do throws(LogError) { try view.judgeTail(ending, &reader) } catch {
            guard error.code == .damaged else { throw error }
            return error.detail
        }
        return nil
    }

    /// - Parameter isExpected: whether a record has to begin here, since one ends here.
    private mutating func record(at offset: UInt64, isExpected: Bool) throws(LogError) -> Record? {
        switch try reader.record(at: offset, after: nil) {
        case .record(let record): return record
        case .nothing: return nil
        case .failing, .foreign:
            let head = try view.store.available(at: offset, upTo: Frame.size)
            if let frame = head.withUnsafeBytes({ Frame($0, vaultID: reader.vaultID) }) {
                frameBudget -= max(frame.indexLength, RecordScan.frameCost)
                guard frameBudget >= 0 else {
                    stop = offset
                    return nil
                }
            }
            return isExpected ? try reader.recordBehindFrame(at: offset, &lengthBudget) : nil
        }
    }

    /// Where a frame stands next that holds, at an offset where one may begin.
    private mutating func nextFrame(from start: UInt64) throws(LogError) -> UInt64? {
        let magic = Frame.magic.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        let vaultID = reader.vaultID
        var offset = start
        while true {
            let index = offset >= pieceOffset ? Int(clamping: offset - pieceOffset) : .max
            if index < piece.count {
                let found = piece.withUnsafeBytes { bytes in
                    stride(from: index, through: bytes.count - Frame.size, by: Int(Limits.alignment)).first {
                        bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self) == magic
                            && Frame(UnsafeRawBufferPointer(rebasing: bytes[$0...]), vaultID: vaultID) != nil
                    }
                }
                if let found { return pieceOffset + UInt64(found) }
                guard piece.count == RecordScan.pieceSize else { return nil }
                // The last few bytes come again with the next piece: a frame may lie across.
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
