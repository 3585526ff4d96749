extension LogView {
    /// Looks through everything behind the end: whether a record lies there, and whether there is anything but zeros.
    ///
    /// A record behind the end means that the log was cut in the middle: someone zeroed or changed a record before it.
    func surveyTail(_ reader: inout RecordReader) throws(LogError) -> (record: UInt64?, isZero: Bool) {
        var place = end
        var isZero = true
        while true {
            let piece = try reader.bytes(at: place, upTo: RecordReader.windowSize)
            let candidates = piece.withUnsafeBytes { bytes -> [Int] in
                guard !bytes.isZero else { return [] }
                isZero = false
                return stride(from: 0, to: bytes.count - 3, by: 16).filter {
                    UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + 4]).elementsEqual(Frame.magic)
                }
            }
            let next = place + UInt64(piece.count)
            let isLast = piece.count < RecordReader.windowSize
            for candidate in candidates {
                let found = place + UInt64(candidate)
                if found > end, try reader.authenticates(at: found) { return (found, isZero) }
            }
            guard !isLast else { return (nil, isZero) }
            place = next
        }
    }

    /// Decides, while nobody can write, what lies at the end: a torn tail, which is dropped, or damage.
    ///
    /// - Throws: `damaged`, naming the place.
    mutating func judgeTail(_ ending: Ending, _ reader: inout RecordReader) throws(LogError) {
        let survey = try surveyTail(&reader)
        if let record = survey.record {
            throw LogError.damaged("a record is missing or changed before byte \(record),", at: end)
        }
        if case .doubtful(let reason) = ending {
            guard try isTorn() else { throw LogError.damaged("\(reason),", at: end) }
        }
        needsClearing = !survey.isZero
    }

    /// Whether the failing record at the end was never acknowledged: cut by the end of the file, or a part of it never
    /// reached the disk. Disks write sectors of 512 bytes or more, whole or not at all, and the zeros were there before.
    private func isTorn() throws(LogError) -> Bool {
        let head = try store.available(at: end, upTo: Frame.size)
        guard head.count == Frame.size, head.contains(where: { $0 != 0 }) else { return true }
        let frame = head.withUnsafeBytes { Frame($0, vaultID: header.vaultID) }
        let recordEnd = end + (frame?.recordLength ?? UInt64(Frame.size))
        guard try store.size() >= recordEnd else { return true }
        var place = end
        while place < recordEnd {
            // From one sector's border to another's, however long the record.
            let stop = min(recordEnd, (place / Limits.sector + 2_048) * Limits.sector)
            let piece = try store.bytes(at: place, count: Int(stop - place))
            if piece.withUnsafeBytes({ $0.hasZeroSector(at: place) }) { return true }
            place = stop
        }
        return false
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes, which lie at `place`, have a share of a sector that is all zero.
    fileprivate func hasZeroSector(at place: UInt64) -> Bool {
        var start = 0
        while start < count {
            let stop = Swift.min(count, start + Int(Limits.sector - (place + UInt64(start)) % Limits.sector))
            if UnsafeRawBufferPointer(rebasing: self[start..<stop]).isZero { return true }
            start = stop
        }
        return false
    }
}
