extension LogView {
    /// What lies behind the log's end.
    struct TailSurvey {
        /// Whether there are only zeros.
        var isZero = true
        /// Where a frame holds: a record was dropped or changed before it, or someone has written what no writer
        /// writes.
        var frame: UInt64?
        /// Offsets where a record may begin and the magic of one stands; now and then it does so by chance.
        var magics = 0

        var isForeign: Bool { frame != nil || magics > Limits.strayMagics }
    }

    /// Looks through everything behind the end, but for what stands at the end itself. Holes are passed over.
    ///
    /// A frame's checksum is no secret, and its index up to 1 MiB long. So a frame that holds is not looked into: what
    /// a writer leaves when it is killed has none but its first.
    func surveyTail(_ reader: inout RecordReader) throws(LogError) -> TailSurvey {
        var survey = TailSurvey()
        var (offset, size) = (end, RecordReader.windowSize)
        while true {
            let piece = try reader.bytes(at: offset, upTo: size)
            // The last few bytes come again with the next piece: a frame may lie across.
            let isLast = piece.count < size
            piece.withUnsafeBytes { survey.look(through: $0, at: offset, isLast: isLast, self) }
            guard !isLast, !survey.isForeign else { return survey }
            guard let data = try store.nextData(from: offset + UInt64(size - Frame.alignedSize)) else { return survey }
            (offset, size) = (data & ~15, 1 << 20)
        }
    }

    /// Decides, while nobody can write, what lies at the end: a torn tail, which is dropped, or damage.
    ///
    /// - Throws: `damaged`, naming the place.
    mutating func judgeTail(_ ending: Ending, _ reader: inout RecordReader) throws(LogError) {
        let survey = try surveyTail(&reader)
        if let frame = survey.frame {
            throw LogError.damaged("a record is missing or changed before byte \(frame),", at: end)
        }
        guard !survey.isForeign else { throw LogError.damaged("what no writer leaves behind the log's end,", at: end) }
        switch ending {
        case .clean: break
        case .doubtful(let reason):
            guard try isTorn() else { throw LogError.damaged("\(reason),", at: end) }
        case .foreign(let reason): throw LogError.damaged("\(reason),", at: end)
        }
        needsClearing = !survey.isZero
    }

    /// Whether the failing record at the end was never acknowledged: cut by the end of the file, or a part of it never
    /// reached the disk. Disks write sectors of 512 bytes or more, whole or not at all, and the zeros were there
    /// before.
    private func isTorn() throws(LogError) -> Bool {
        let head = try store.available(at: end, upTo: Frame.size)
        guard head.count == Frame.size, head.contains(where: { $0 != 0 }) else { return true }
        let frame = head.withUnsafeBytes { Frame($0, vaultID: header.vaultID) }
        let recordEnd = end + (frame?.recordLength ?? UInt64(Frame.size))
        guard try store.size() >= recordEnd else { return true }
        var offset = end
        while offset < recordEnd {
            // From one sector's border to another's, however long the record.
            let stop = min(recordEnd, (offset / Limits.sector + 2_048) * Limits.sector)
            let piece = try store.bytes(at: offset, count: Int(stop - offset))
            if piece.withUnsafeBytes({ $0.hasZeroSector(at: offset) }) { return true }
            offset = stop
        }
        return false
    }
}

extension LogView.TailSurvey {
    fileprivate mutating func look(
        through bytes: UnsafeRawBufferPointer, at offset: UInt64, isLast: Bool, _ view: LogView
    ) {
        guard !bytes.isZero else { return }
        isZero = false
        let magic = Frame.magic.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        var index = 0
        while index + Frame.size <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self) == magic {
                let found = offset + UInt64(index)
                magics += 1
                let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
                if found > view.end, Frame(rest, vaultID: view.header.vaultID) != nil {
                    frame = found
                    return
                }
            }
            index += 16
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes, which lie at `offset`, have a share of a sector that is all zero.
    fileprivate func hasZeroSector(at offset: UInt64) -> Bool {
        var start = 0
        while start < count {
            let stop = Swift.min(count, start + Int(Limits.sector - (offset + UInt64(start)) % Limits.sector))
            if UnsafeRawBufferPointer(rebasing: self[start..<stop]).isZero { return true }
            start = stop
        }
        return false
    }
}
