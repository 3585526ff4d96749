import LinuxSystem
import Sealing

// In a file, the bytes after the log's end are zeros, a torn write, or damage.

extension FileRecordStore {
    /// Classifies the bytes after the log's end. Accepts a torn record there, since its writer has not acknowledged it.
    func examine(_ tail: LogTail) throws(LogError) -> TailState {
        let isZero = try search(behind: tail)
        switch tail.remains {
        case .nothing: break
        case .failing where try isTorn(tail): break
        case .failing(let reason), .foreign(let reason): throw LogError.damaged("\(reason),", at: tail.end)
        }
        return TailState(needsClearing: !isZero, isDurable: false)
    }

    /// Searches for records that begin after the log's end, but skips holes. Throws `damaged` if it finds such a
    /// record, or more record magics than can occur by chance.
    ///
    /// Indices are not opened: each may be 1 MiB long, and anyone could forge many frames, since a checksum needs no
    /// key. A valid frame is proof enough of damage, since a killed writer can leave one only at the log's end itself.
    ///
    /// - Returns: whether all bytes after the log's end are zero.
    private func search(behind tail: LogTail) throws(LogError) -> Bool {
        let end = tail.end
        var offset = end
        var size = Int(Limits.growth)
        var isZero = true
        var magics = 0
        while true {
            let piece = try available(at: offset, upTo: size)
            try piece.withRawBytes { (bytes) throws(LogError) in
                guard !bytes.isZero else { return }
                isZero = false
                for index in bytes.recordMagics() {
                    let found = offset + UInt64(index)
                    guard found > end else { continue }
                    magics += 1
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
                    guard Frame(rest, vaultID: tail.vaultID) != nil else { continue }
                    throw LogError.damaged("a record is missing or changed before byte \(found),", at: end)
                }
            }
            guard magics <= Limits.strayMagics else {
                throw LogError.damaged("unexpected bytes after the log's end,", at: end)
            }
            // The pieces of the file that are read overlap, since a frame may cross from one piece into the next.
            guard piece.count == size, let data = try nextData(from: offset + UInt64(size) - Limits.alignment)
            else { return isZero }
            offset = data & ~(Limits.alignment - 1)
            size = 1 << 20
        }
    }

    /// Returns whether the invalid record at the log's end is torn, and thus unacknowledged. A torn record extends past
    /// the file's end, or has zeros instead of sectors that never reached the disk. A sector has at least 512 bytes.
    private func isTorn(_ tail: LogTail) throws(LogError) -> Bool {
        let end = tail.end
        let head = try available(at: end, upTo: Frame.size)
        guard head.count == Frame.size, head.contains(where: { $0 != 0 }) else { return true }
        let frame = head.withUnsafeBytes { Frame($0, vaultID: tail.vaultID) }
        let recordEnd = end + (frame?.recordLength ?? UInt64(Frame.size))
        guard try size() >= recordEnd else { return true }
        // The record is divided at sector boundaries, so that no sector is split between two pieces.
        for piece in (end / Limits.sector * Limits.sector..<recordEnd).pieces {
            let start = max(piece.lowerBound, end)
            let bytes = try bytes(at: start, count: Int(piece.upperBound - start))
            if bytes.withUnsafeBytes({ $0.hasZeroSector(at: start) }) { return true }
        }
        return false
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the indices, of every 16th from `start` on, at which a record's magic begins and a whole frame fits.
    func recordMagics(from start: Int = 0) -> some Sequence<Int> {
        let magic = Frame.magic.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return stride(from: start, through: count - Frame.size, by: Int(Limits.alignment)).lazy.filter {
            loadUnaligned(fromByteOffset: $0, as: UInt32.self) == magic
        }
    }

    /// Returns whether any sector is all zeros, as far as it is in this buffer, which begins at `offset` in the file.
    fileprivate func hasZeroSector(at offset: UInt64) -> Bool {
        let sector = Int(Limits.sector)
        return stride(from: -Int(offset % Limits.sector), to: count, by: sector).contains {
            UnsafeRawBufferPointer(rebasing: self[Swift.max($0, 0)..<Swift.min($0 + sector, count)]).isZero
        }
    }
}
