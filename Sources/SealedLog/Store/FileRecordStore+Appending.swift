import LinuxSystem
import Sealing

// Records are written over zeros. A record is zeroed again if its write or flush fails. See Format.md, "Writing".

extension FileRecordStore {
    func prepareAppend(behind end: LogEnd) throws(LogError) {
        if !hasTidied.exchange(true, ordering: .relaxed) { try? removeLeftReplacement() }
        if let undurable = end.undurable { try rewrite(undurable) }
        if end.needsClearing {
            // `clear` also flushes a record that has just been rewritten, because it flushes the whole file.
            try clear(end.offset..<max(end.offset, size()))
        } else if end.undurable != nil {
            try flush()
        }
        if end.isPayloadFirst { try clearRemains(from: end.offset, size: size()) }
    }

    func append(_ record: StoredRecord) throws(LogError) {
        if record.isWhole { try makeRoom(for: record) }
        do throws(LogError) {
            try write(record.bytes, at: record.offset)
            try synchronize()
        } catch let failure {
            do throws(LogError) { try takeBack(record) } catch { throw poisoned(by: failure) }
            throw failure
        }
        // The hint lets readers skip earlier records. It need not be durable.
        if let hint = record.hint { try? write(hint) }
    }

    func announce(_ record: StoredRecord) throws(LogError) -> Bool {
        try append(record)
        return true
    }

    func write(_ hint: Hint) throws(LogError) { try write(hint.encoded, at: UInt64(Header.hintOffset)) }

    /// Flushes the file. If that fails, poisons the store, since the outcome of earlier writes is then unknown.
    private func flush() throws(LogError) {
        do throws(LogError) { try synchronize() } catch { throw poisoned(by: error) }
    }

    /// Blocks all later writes to the file. Returns an error that reports the failed write's outcome as unknown.
    private func poisoned(by failure: LogError) -> LogError {
        isPoisoned.set()
        return failure.ofUnknownOutcome
    }

    /// Extends the file with zeros for the record to overwrite. Overwriting existing blocks leaves the file system's
    /// metadata unchanged, which saves a third of an append's time. The remaining zeros reveal a torn write.
    private func makeRoom(for record: StoredRecord) throws(LogError) {
        let size = try size()
        try clearRemains(from: record.offset, upTo: record.end + UInt64(Frame.headSize), size: size)
        // For a record of more than 1 MiB, writing zeros first would cost more than it saves.
        guard record.end > size, record.end - record.offset <= 1 << 20 else { return }
        try writeZerosAhead(from: record.end, size: size)
    }

    /// Extends the file with zeros for the next records.
    func writeZerosAhead(from end: UInt64, size: UInt64) throws(LogError) {
        try writeZeros(size..<(end / Limits.growth + 1) * Limits.growth)
    }

    /// Clears everything after the log's end if another writer left bytes between the end and `limit`. After a new
    /// record, such bytes would count as damage. In a torn record, they would replace the zeros that reveal the tear.
    /// Repeats an interrupted clearing, because its zeros may look like the log's end or may not have reached the disk.
    private func clearRemains(from end: UInt64, upTo limit: UInt64 = .max, size: UInt64) throws(LogError) {
        if try isClearing() ? true : !isZero(end..<max(end, min(limit, size))) { try clear(end..<size) }
    }

    /// Overwrites a record with zeros after its write or flush has failed, since the page cache can no longer be
    /// trusted. No reader has returned the record's values yet, because that requires the lock. Writes zeros only up to
    /// the last byte of the record that reached the file, since the disk may be full.
    private func takeBack(_ record: StoredRecord) throws(LogError) {
        try clear(record.offset..<endOfData(in: record.offset..<record.end))
    }

    /// Rewrites the range. After a failed flush, Linux marks unwritten bytes clean, so another flush would skip them.
    private func rewrite(_ range: Range<UInt64>) throws(LogError) {
        for piece in range.pieces { try write(bytes(at: piece.lowerBound, count: piece.count), at: piece.lowerBound) }
    }

    private func writeZeros(_ range: Range<UInt64>) throws(LogError) {
        for piece in range.pieces { try write([UInt8](repeating: 0, count: piece.count), at: piece.lowerBound) }
    }

    /// Overwrites the bytes after the log's end with zeros and flushes them. Does not fill holes.
    ///
    /// Proceeds from back to front, and clears the first sector last, in a separate write. Otherwise, a killed process
    /// could leave zeros at the front, which look like the log's end, with old bytes after them. Until the zeros are
    /// flushed, a mark in the header makes the next writer clear everything again. The mark need not be durable, since
    /// a power loss that discards the mark discards the unflushed zeros too.
    func clear(_ range: Range<UInt64>) throws(LogError) {
        try mark(isClearing: true)
        if !range.isEmpty { try overwriteWithZeros(range) }
        try flush()
        // If the header's mark cannot be removed, the next writer merely clears the bytes after the log's end again.
        try? mark(isClearing: false)
    }

    private static let clearingMark = (offset: UInt64(Header.hintOffset + Hint.size), size: 8)

    private func mark(isClearing: Bool) throws(LogError) {
        var writer = ByteWriter(reserving: FileRecordStore.clearingMark.size)
        writer.integer(UInt64(isClearing ? 1 : 0))
        try write(writer.bytes, at: FileRecordStore.clearingMark.offset)
    }

    private func isClearing() throws(LogError) -> Bool {
        let mark = FileRecordStore.clearingMark
        return try available(at: mark.offset, upTo: mark.size).contains { $0 != 0 }
    }

    private func overwriteWithZeros(_ range: Range<UInt64>) throws(LogError) {
        let sectorEnd = min(range.upperBound, (range.lowerBound / Limits.sector + 1) * Limits.sector)
        var end = range.upperBound
        while end > sectorEnd {
            let start = end - min(end - sectorEnd, 1 << 20)
            if let data = try nextData(from: start), data < end { try writeZeros(data..<end) }
            end = start
        }
        try writeZeros(range.lowerBound..<sectorEnd)
    }

    /// Returns whether all bytes in the range are zero. Ignores the part of the range beyond the file's end.
    func isZero(_ range: Range<UInt64>) throws(LogError) -> Bool {
        for piece in range.pieces {
            let bytes = try available(at: piece.lowerBound, upTo: piece.count)
            guard bytes.withUnsafeBytes({ $0.isZero }) else { return false }
        }
        return true
    }

    /// Returns the offset just after the last nonzero byte in the range; the range's start if all bytes are zero.
    private func endOfData(in range: Range<UInt64>) throws(LogError) -> UInt64 {
        var end = range.lowerBound
        for piece in range.pieces {
            let bytes = try available(at: piece.lowerBound, upTo: piece.count)
            if let last = bytes.lastIndex(where: { $0 != 0 }) { end = piece.lowerBound + UInt64(last) + 1 }
        }
        return end
    }
}
