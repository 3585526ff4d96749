import LinuxSystem
import SealedLog

// What is read past the copy on this machine, after some of it did not authenticate, or to verify the server's bytes.
// What is in doubt never replaces what is known: a server's damage would destroy what it can be mended from.

extension PostgresRecordStore {
    func settle(_ authentic: Range<UInt64>?) {
        let (differences, own) = state.withLock { ($0.differences.sorted, $0.own) }
        if let authentic, let mirror = place.mirror {
            for difference in differences.map({ $0.clamped(to: authentic) }) {
                for piece in difference.pieces { mend(mirror, piece, own) }
            }
        }
        state.withLock { $0.endDoubt(authentic) }
    }

    /// Reads bytes past the copy, and puts them in the place of those that differ.
    private func mend(_ mirror: Mirror, _ range: Range<UInt64>, _ head: StoreHead) {
        var bytes = [UInt8](repeating: 0, count: range.count)
        guard (try? bytes.withUnsafeMutableBytes { try read(into: $0, at: range.lowerBound) }) == range.count else {
            return
        }
        mirror.replace(StoreBytes(offset: range.lowerBound, bytes: bytes), of: head)
    }

    /// Notes whether the copy has other bytes than those that were read past it.
    func compareCopy(_ range: Range<UInt64>, _ found: UnsafeRawBufferPointer) {
        guard let mirror = place.mirror else { return }
        for known in mirror.ranges(of: generation) ?? [] {
            let shared = known.clamped(to: range)
            guard !shared.isEmpty else { continue }
            var kept = [UInt8](repeating: 0, count: shared.count)
            guard kept.withUnsafeMutableBytes({ mirror.copy(shared, of: generation, into: $0) }) else { continue }
            let start = Int(shared.lowerBound - range.lowerBound)
            guard !found[start..<start + shared.count].elementsEqual(kept) else { continue }
            state.withLock { $0.differences.insert(shared) }
        }
    }
}
