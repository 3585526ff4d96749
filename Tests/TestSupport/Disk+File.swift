extension Disk {
    fileprivate static let sector = 512

    /// The bytes of a file, and the writes since they were flushed, oldest first.
    package struct File: Sendable {
        /// The contents that the system shows while there is power.
        package private(set) var written: [UInt8]
        private var durable: [UInt8]
        private var pending: [(offset: Int, bytes: [UInt8])] = []
        /// The contents that the system showed before the pending writes. After a failed flush they differ from the
        /// durable ones.
        private var cached: [UInt8]
        /// The sectors that count as flushed but are not on the disk.
        private var lost: Set<Int> = []
        private var failures = 0
        /// The number of failures that were reported to a program.
        private(set) var reportedFailures = 0

        init(_ bytes: [UInt8]) {
            written = bytes
            durable = bytes
            cached = bytes
        }
    }
}

extension Disk.File {
    mutating func write(_ bytes: [UInt8], at offset: Int) {
        written.write(bytes, at: offset)
        pending.append((offset, bytes))
    }

    /// Flushes the sectors that were written since the last flush, even if that failed.
    mutating func flush() {
        lengthen(to: written.count)
        for sector in touchedSectors { put(sector) }
        forgetPending()
    }

    mutating func failFlush(_ generator: inout SeededGenerator) {
        let share = [0, 0.3, 0.5, 0.7, 1][Int.random(in: 0..<5, using: &generator)]
        var left: [Int] = []
        for sector in touchedSectors {
            if Double.random(in: 0..<1, using: &generator) < share { put(sector) } else { left.append(sector) }
        }
        if Bool.random(using: &generator) { lengthen(to: written.count) }
        for sector in left where durable.sector(sector) != written.sector(sector) { lost.insert(sector) }
        failures += 1
        forgetPending()
    }

    /// Reports a failure as the kernel's errseq_t does: once to each open file, and to a file that is opened later
    /// unless another one got the report.
    mutating func reportFailure(to known: inout Int) -> Bool {
        guard known < failures else { return false }
        known = failures
        reportedFailures = failures
        return true
    }

    mutating func forgetFailures() { reportedFailures = failures }

    /// The ranges that the system shows and that no flush will write.
    package var lostRanges: [Range<Int>] {
        lost.sorted().map { $0 * Disk.sector..<min(($0 + 1) * Disk.sector, written.count) }.filter { !$0.isEmpty }
    }

    private mutating func lengthen(to count: Int) {
        if durable.count < count { durable.append(contentsOf: repeatElement(0, count: count - durable.count)) }
    }

    /// Writes a sector to the disk with the contents that the system shows.
    private mutating func put(_ sector: Int) {
        durable.write(Array(written.sector(sector)), at: sector * Disk.sector)
        lost.remove(sector)
    }

    private mutating func forgetPending() {
        pending = []
        cached = written
    }

    /// Returns possible contents of the file after a power loss.
    ///
    /// Each sector that was written since the last flush has one of its contents since then. A disk writes a sector
    /// completely or not at all, and sectors in any order.
    func afterPowerLoss(_ generator: inout SeededGenerator) -> [UInt8] {
        guard !pending.isEmpty else { return durable }
        let share = [0.02, 0.3, 0.5, 0.7, 0.98][Int.random(in: 0..<5, using: &generator)]
        var result = durable
        var version = cached
        // The number of writes that have reached each sector.
        var seen: [Int: Int] = [:]
        for sector in touchedSectors where Double.random(in: 0..<1, using: &generator) < share {
            let isNewest = Bool.random(using: &generator)
            seen[sector] = isNewest ? pending.count : Int.random(in: 1...pending.count, using: &generator)
        }
        var touched: Set<Int> = []
        for (index, write) in pending.enumerated() {
            version.write(write.bytes, at: write.offset)
            touched.formUnion(sectors(of: write.offset, write.bytes.count))
            // A sector that was not written by then counts as clean, even after a failed flush.
            for (sector, count) in seen where count == index + 1 && touched.contains(sector) {
                let start = sector * Disk.sector
                // This writes nothing if the file ended before the sector at that time.
                result.write(Array(version.dropFirst(start).prefix(Disk.sector)), at: start)
            }
        }
        // The file's length may have become durable before its contents.
        if result.count < version.count, Bool.random(using: &generator) { result.write([0], at: version.count - 1) }
        return result
    }

    private var touchedSectors: [Int] { Set(pending.lazy.flatMap { sectors(of: $0.offset, $0.bytes.count) }).sorted() }

    private func sectors(of offset: Int, _ count: Int) -> Range<Int> {
        offset / Disk.sector..<(offset + count + Disk.sector - 1) / Disk.sector
    }
}

extension [UInt8] {
    /// Writes as a file system does: zeros fill a gap before the offset.
    fileprivate mutating func write(_ bytes: [UInt8], at offset: Int) {
        guard !bytes.isEmpty else { return }
        if count < offset + bytes.count { append(contentsOf: repeatElement(0, count: offset + bytes.count - count)) }
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    /// The bytes of a sector, as far as they exist.
    fileprivate func sector(_ number: Int) -> ArraySlice<UInt8> { dropFirst(number * Disk.sector).prefix(Disk.sector) }
}
