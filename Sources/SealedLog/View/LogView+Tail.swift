extension LogView {
    /// What is behind the log's end.
    struct TailSurvey {
        /// Whether there are only zeros.
        var isZero = true
        /// The offset of a valid frame: a record before it was dropped or changed, or these bytes are no writer's.
        var frame: UInt64?
        /// The number of magics where a record may begin; a few can be there by chance.
        var magics = 0

        var isForeign: Bool { frame != nil || magics > Limits.strayMagics }
    }

    /// Searches everything behind the end, except for a record at the end itself. Holes are skipped.
    ///
    /// Anyone can compute a frame's checksum, and its index may be 1 MiB long, so no index is opened here. It need not
    /// be: a writer that is killed leaves no valid frame but its first.
    func surveyTail(_ reader: inout RecordReader) throws(LogError) -> TailSurvey {
        var survey = TailSurvey()
        var (offset, size) = (end, RecordReader.windowSize)
        while true {
            let piece = try reader.bytes(at: offset, upTo: size)
            // The next piece begins with the last bytes of this one: a frame may cross the border.
            let isLast = piece.count < size
            piece.withUnsafeBytes { survey.look(through: $0, at: offset, isLast: isLast, self) }
            guard !isLast, !survey.isForeign else { return survey }
            guard let data = try store.nextData(from: offset + UInt64(size - Frame.alignedSize)) else { return survey }
            (offset, size) = (data & ~15, 1 << 20)
        }
    }

    /// Decides, while no process can write, what is at the end: a torn tail, which is dropped, or damage.
    ///
    /// - Throws: `damaged`, with the offset.
    mutating func classifyTail(_ ending: Ending, _ reader: inout RecordReader) throws(LogError) {
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

    /// Returns whether the failing record at the end was never acknowledged: it is cut by the end of the file, or a
    /// part of it never reached the disk. Disks write whole sectors of 512 bytes or more, over zeros that were there
    /// before.
    private func isTorn() throws(LogError) -> Bool {
        let head = try store.available(at: end, upTo: Frame.size)
        guard head.count == Frame.size, head.contains(where: { $0 != 0 }) else { return true }
        let frame = head.withUnsafeBytes { Frame($0, vaultID: header.vaultID) }
        let recordEnd = end + (frame?.recordLength ?? UInt64(Frame.size))
        guard try store.size() >= recordEnd else { return true }
        var offset = end
        while offset < recordEnd {
            // Pieces end at sector borders.
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
        for index in bytes.recordMagics() {
            magics += 1
            let found = offset + UInt64(index)
            let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
            if found > view.end, Frame(rest, vaultID: view.header.vaultID) != nil {
                frame = found
                return
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The indices from `start` on, 16 apart, that hold the magic of a record and have room for its frame.
    func recordMagics(from start: Int = 0) -> some Sequence<Int> {
        let magic = Frame.magic.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return stride(from: start, through: count - Frame.size, by: Int(Limits.alignment)).lazy.filter {
            loadUnaligned(fromByteOffset: $0, as: UInt32.self) == magic
        }
    }

    /// Returns whether these bytes, which are at `offset` in the file, fill a part of a sector with zeros alone.
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
