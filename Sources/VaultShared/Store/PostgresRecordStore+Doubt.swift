import LinuxSystem
import SealedLog

// What is read past the copy on this machine, after some of it did not authenticate, or to verify the server's bytes.
// What is in doubt never replaces what is known: a server's damage would destroy what it can be mended from.

extension PostgresRecordStore {
    func endDoubt() { state.withLock { $0.doubts = max(0, $0.doubts - 1) } }

    func confirm(_ authentic: UnsafeRawBufferPointer, at offset: UInt64) {
        guard let mirror = location.mirror else { return }
        let doubted = state.withLock { state in
            state.keep(confirmed: authentic, at: offset)
            return state.isMirrored && state.doubts > 0 ? state.own : nil
        }
        guard let doubted else { return }
        let range = offset..<offset + UInt64(authentic.count)
        for known in mirror.ranges(of: generation) ?? [] {
            let shared = known.clamped(to: range)
            guard !shared.isEmpty else { continue }
            var kept = [UInt8](repeating: 0, count: shared.count)
            guard kept.withUnsafeMutableBytes({ mirror.copy(shared, of: generation, into: $0) }) else { continue }
            let start = Int(shared.lowerBound - offset)
            let bytes = authentic[start..<start + shared.count]
            guard !bytes.elementsEqual(kept) else { continue }
            mirror.replace(StoreBytes(offset: shared.lowerBound, bytes: Array(bytes)), of: doubted)
        }
    }
}
