extension Disk {
    fileprivate static let sector = 512

    /// A file's bytes, and what has been written since they were flushed, oldest first.
    package struct File: Sendable {
        /// As the system shows it while there is power.
        package private(set) var written: [UInt8]
        private var durable: [UInt8]
        private var pending: [(offset: Int, bytes: [UInt8])] = []
        /// As the system showed it before the first of them. Differs from what is durable after a failed flush.
        private var cached: [UInt8]
        /// The sectors that count as flushed and are not on the disk.
        private var lost: Set<Int> = []
        private var failures = 0
        /// Those of the failures that some program has been told about.
        private(set) var reportedFailures = 0

        init(_ bytes: [UInt8]) { (written, durable, cached) = (bytes, bytes, bytes) }
    }
}

extension Disk.File {
    mutating func write(_ bytes: [UInt8], at offset: Int) {
        written.write(bytes, at: offset)
        pending.append((offset, bytes))
    }

    /// Flushes the sectors that were written since the last flush, whether that failed or not.
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

    /// As the kernel's errseq_t: each open file is told once, and one that is opened later unless another was told.
    mutating func reportFailure(to known: inout Int) -> Bool {
        guard known < failures else { return false }
        (known, reportedFailures) = (failures, failures)
        return true
    }

    mutating func forgetFailures() { reportedFailures = failures }

    /// Returns the ranges that the system shows and no flush will write.
    package var lostRanges: [Range<Int>] {
        lost.sorted().map { $0 * Disk.sector..<min(($0 + 1) * Disk.sector, written.count) }.filter { !$0.isEmpty }
    }

    private mutating func lengthen(to count: Int) {
        if durable.count < count { durable.append(contentsOf: repeatElement(0, count: count - durable.count)) }
    }

    /// Writes a sector to the disk, as the system shows it.
    private mutating func put(_ sector: Int) {
        durable.write(Array(written.sector(sector)), at: sector * Disk.sector)
        lost.remove(sector)
    }

    private mutating func forgetPending() {
        pending = []
        cached = written
    }

    /// Returns what may be left of the file after power was lost.
    ///
    /// Each sector that was written since the last flush has one of the contents that it had since then; disks write a
    /// sector whole or not at all, and in any order.
    func afterPowerLoss(_ generator: inout SeededGenerator) -> [UInt8] {
        guard !pending.isEmpty else { return durable }
        let share = [0.02, 0.3, 0.5, 0.7, 0.98][Int.random(in: 0..<5, using: &generator)]
        var result = durable
        var version = cached
        // How many of the writes each sector has seen.
        var seen: [Int: Int] = [:]
        for sector in touchedSectors where Double.random(in: 0..<1, using: &generator) < share {
            let isNewest = Bool.random(using: &generator)
            seen[sector] = isNewest ? pending.count : Int.random(in: 1...pending.count, using: &generator)
        }
        var touched: Set<Int> = []
        for (index, write) in pending.enumerated() {
            version.write(write.bytes, at: write.offset)
            touched.formUnion(sectors(of: write.offset, write.bytes.count))
            // One that was not written by then counts as clean, after a failed flush too.
            for (sector, count) in seen where count == index + 1 && touched.contains(sector) {
                let start = sector * Disk.sector
                // Nothing, if the file ended before the sector then.
                result.write(Array(version.dropFirst(start).prefix(Disk.sector)), at: start)
            }
        }
        // The file's length may have become durable before what lies in it.
        if result.count < version.count, Bool.random(using: &generator) { result.write([0], at: version.count - 1) }
        return result
    }

    private var touchedSectors: [Int] { Set(pending.lazy.flatMap { sectors(of: $0.offset, $0.bytes.count) }).sorted() }

    private func sectors(of offset: Int, _ count: Int) -> Range<Int> {
        offset / Disk.sector..<(offset + count + Disk.sector - 1) / Disk.sector
    }
}

extension [UInt8] {
    /// Writes as a file does: a gap before the offset is filled with zeros.
    fileprivate mutating func write(_ bytes: [UInt8], at offset: Int) {
        guard !bytes.isEmpty else { return }
        if count < offset + bytes.count { append(contentsOf: repeatElement(0, count: offset + bytes.count - count)) }
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    /// The bytes of a sector, as far as there are any.
    fileprivate func sector(_ number: Int) -> ArraySlice<UInt8> { dropFirst(number * Disk.sector).prefix(Disk.sector) }
}
