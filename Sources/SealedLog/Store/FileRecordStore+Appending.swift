import LinuxSystem
import Sealing

// Records are written over zeros, and taken back if their flush fails; Format.md, "Writing".

extension FileRecordStore {
    func prepareAppend(behind end: LogEnd) throws(LogError) {
        if !hasTidied.exchange(true, ordering: .relaxed) { try? removeLeftReplacement() }
        if let undurable = end.undurable { try rewrite(undurable) }
        if end.needsClearing {
            // The flush of the zeros covers the record.
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
        // Saves readers the records before; nothing is lost if it does not last.
        if let hint = record.hint { try? write(hint) }
    }

    func announce(_ record: StoredRecord) throws(LogError) { try append(record) }

    func write(_ hint: Hint) throws(LogError) { try write(hint.encoded, at: UInt64(Header.hintOffset)) }

    /// Flushes what is in the file before this process writes to it: another process's record may or may not last.
    private func flush() throws(LogError) {
        do throws(LogError) { try synchronize() } catch { throw poisoned(by: error) }
    }

    /// Refuses all writes from now on. Returns the error of the write whose outcome is unknown.
    private func poisoned(by failure: LogError) -> LogError {
        isPoisoned.set()
        return failure.ofUnknownOutcome
    }

    // MARK: Room

    /// Writes zeros where the record will be and beyond. A write over existing blocks does not change the file system's
    /// metadata: it is cheaper by a third, and zeros show where it was torn.
    private func makeRoom(for record: StoredRecord) throws(LogError) {
        let size = try size()
        try clearRemains(from: record.offset, upTo: record.end + UInt64(Frame.headSize), size: size)
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
    /// zeros in front that look like the log's end, or zeros that never reached the disk.
    private func clearRemains(
        from end: UInt64, upTo limit: UInt64 = .max, size: UInt64
    ) throws(LogError) {
        if try isClearing() ? true : !isZero(end..<max(end, min(limit, size))) { try clear(end..<size) }
    }

    /// Overwrites a record with zeros: after a failed write or flush the page cache cannot be trusted. No reader has
    /// returned the record, since it would need the lock for that. Zeros find no room where the record found none.
    private func takeBack(_ record: StoredRecord) throws(LogError) {
        try clear(record.offset..<endOfData(in: record.offset..<record.end))
    }

    /// Writes the same bytes again: after a failed flush Linux regards pages as clean that never reached the disk.
    private func rewrite(_ range: Range<UInt64>) throws(LogError) {
        for piece in range.pieces { try write(bytes(at: piece.lowerBound, count: piece.count), at: piece.lowerBound) }
    }

    // MARK: Zeros

    private func writeZeros(_ range: Range<UInt64>) throws(LogError) {
        for piece in range.pieces { try write([UInt8](repeating: 0, count: piece.count), at: piece.lowerBound) }
    }

    /// Overwrites with zeros what is behind the log's end, and flushes them. Holes stay holes.
    ///
    /// It proceeds from the back to the front, the first sector last and by itself: if the process is killed meanwhile,
    /// zeros at the front would pass for the end of the log, with remains behind it. A mark in the header says that the
    /// zeros may be in the page cache alone: the next writer clears all of it again. The mark need not last, since a
    /// power loss takes such zeros along.
    func clear(_ range: Range<UInt64>) throws(LogError) {
        try mark(isClearing: true)
        if !range.isEmpty { try overwriteWithZeros(range) }
        try flush()
        // If it stays, the next writer clears once more.
        try? mark(isClearing: false)
    }

    private static let clearingMark = (offset: UInt64(Header.hintOffset + Hint.size), size: 8)

    private func mark(isClearing: Bool) throws(LogError) {
        var writer = ByteWriter(reserving: FileRecordStore.clearingMark.size)
        writer.integer(UInt64(isClearing ? 1 : 0))
        try write(writer.bytes, at: FileRecordStore.clearingMark.offset)
    }

    private func isClearing() throws(LogError) -> Bool {
        let (offset, size) = FileRecordStore.clearingMark
        return try available(at: offset, upTo: size).contains { $0 != 0 }
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
