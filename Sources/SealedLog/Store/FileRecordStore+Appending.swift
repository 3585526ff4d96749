import LinuxSystem
import Sealing

// Records are written over zeros, and taken back if their flush fails; Format.md, "Writing".

extension FileRecordStore {
    func settle(rewriting newest: Range<UInt64>?, clearingFrom end: UInt64?) throws(LogError) {
        if let newest { try rewrite(newest) }
        if let end { try clear(end..<max(end, size())) }
        if newest != nil || end != nil { try flush() }
    }

    func clear(from end: UInt64) throws(LogError) {
        if try clearRemains(from: end, size: size()) { try flush() }
    }

    func append(_ record: StoredRecord, isGivenOut: () -> Bool) throws(LogError) {
        if record.isWhole { try makeRoom(for: record) }
        do throws(LogError) {
            try write(record.bytes, at: record.offset)
            try synchronize()
        } catch {
            try takeBack(record, after: error, isGivenOut)
        }
        // Saves readers the records before; nothing is lost if it does not last.
        if let hint = record.hint { try? write(hint) }
    }

    func write(_ hint: Hint) throws(LogError) { try write(hint.encoded, at: UInt64(Header.hintOffset)) }

    /// Flushes what is in the file before this process writes to it: another process's record may or may not last.
    private func flush() throws(LogError) {
        do throws(LogError) { try synchronize() } catch { throw error.ofUnknownOutcome }
    }

    // MARK: Room

    /// Writes zeros where the record will be and beyond. A write over existing blocks does not change the file system's
    /// metadata: it is cheaper by a third, and zeros show where it was torn.
    private func makeRoom(for record: StoredRecord) throws(LogError) {
        let size = try size()
        if try clearRemains(from: record.offset, upTo: record.end + UInt64(Frame.headSize), size: size) {
            try flush()
        }
        // A large record fills its own room: writing that twice would cost more than it saves.
        guard record.end > size, record.end - record.offset <= 1 << 20 else { return }
        try writeZerosAhead(from: record.end, size: size)
    }

    /// Writes zeros behind the file's end, as far as the next records need them.
    func writeZerosAhead(from end: UInt64, size: UInt64) throws(LogError) {
        try writeZeros(size..<(end / Limits.growth + 1) * Limits.growth)
    }

    /// Clears the file from the log's end on if others left bytes there, up to `limit` at least: behind a record they
    /// would be damage, and within a torn one they would not be zeros. A clearing that was cut short may have left
    /// zeros in front that look like the log's end.
    ///
    /// - Returns: whether there was anything.
    private func clearRemains(
        from end: UInt64, upTo limit: UInt64 = .max, size: UInt64
    ) throws(LogError) -> Bool {
        guard try !isZero(end..<max(end, min(limit, size))) else { return false }
        try clear(end..<size)
        return true
    }

    // MARK: Taking back

    /// Overwrites the record with zeros: after a failed write or flush the page cache cannot be trusted. A record stays
    /// if a reader has returned it meanwhile.
    private func takeBack(
        _ record: StoredRecord, after failure: LogError, _ isGivenOut: () -> Bool
    ) throws(LogError) -> Never {
        do throws(LogError) {
            let cleared = Result { () throws(LogError) in if !isGivenOut() { try clear(record) } }
            // A reader looks at the record again once it has remembered it.
            if isGivenOut() {
                try rewrite(record.offset + UInt64(record.bytes.count)..<record.end)
                try write(record.bytes, at: record.offset)
                try synchronize()
                throw failure
            }
            try cleared.get()
        } catch { throw failure.ofUnknownOutcome }
        throw failure
    }

    /// Overwrites a record with zeros, and flushes them. Where there was no room for the rest, zeros would find none
    /// either. Of a payload that was written before its head, the next writer finds the rest behind the log's end.
    private func clear(_ record: StoredRecord) throws(LogError) {
        let start = record.offset
        let end = try endOfData(in: start..<start + UInt64(record.bytes.count))
        if start < end { try clear(start..<end) }
        try synchronize()
    }

    /// Writes the same bytes again: after a failed flush Linux regards pages as clean that never reached the disk.
    private func rewrite(_ range: Range<UInt64>) throws(LogError) {
        for piece in range.pieces { try write(bytes(at: piece.lowerBound, count: piece.count), at: piece.lowerBound) }
    }

    // MARK: Zeros

    private func writeZeros(_ range: Range<UInt64>) throws(LogError) {
        for piece in range.pieces { try write([UInt8](repeating: 0, count: piece.count), at: piece.lowerBound) }
    }

    /// Overwrites with zeros from the back to the front, the first sector last and by itself. Holes stay holes. If the
    /// process is killed on the way, zeros at the front would pass for the end of the log, with remains behind it.
    func clear(_ range: Range<UInt64>) throws(LogError) {
        let sectorEnd = min(range.upperBound, (range.lowerBound / Limits.sector + 1) * Limits.sector)
        var end = range.upperBound
        while end > sectorEnd {
            let start = end - min(end - sectorEnd, 1 << 20)
            if let data = try nextData(from: start), data < end { try writeZeros(data..<end) }
            end = start
        }
        try writeZeros(range.lowerBound..<sectorEnd)
    }

    /// Returns whether there are only zeros, as far as the file reaches.
    func isZero(_ range: Range<UInt64>) throws(LogError) -> Bool {
        for piece in range.pieces {
            let bytes = try available(at: piece.lowerBound, upTo: piece.count)
            guard bytes.withUnsafeBytes({ $0.isZero }) else { return false }
        }
        return true
    }

    /// Returns the offset behind the last byte that is not zero; the range's start if there is none.
    private func endOfData(in range: Range<UInt64>) throws(LogError) -> UInt64 {
        var end = range.lowerBound
        for piece in range.pieces {
            let bytes = try available(at: piece.lowerBound, upTo: piece.count)
            if let last = bytes.lastIndex(where: { $0 != 0 }) { end = piece.lowerBound + UInt64(last) + 1 }
        }
        return end
    }
}
