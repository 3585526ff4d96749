import LinuxSystem
import Sealing

// Guarded memory costs 25 µs to make and free, opening a small value half a microsecond: what is read in place goes through
// pieces of guarded memory that are kept.

/// Guarded memory with an opened value in it, and room for the box that it comes from.
///
/// It belongs to one reader at a time: the pool gives it out to one, who gives it back. That is why it may be sent
/// between threads.
package final class Scratch: @unchecked Sendable {
    static let size = 4_096

    // Checks of exclusive access would cost a read a few hundredths, and tell nothing: there is one reader.
    @exclusivity(unchecked) private var box: [UInt8]
    @exclusivity(unchecked) private var memory: SecretBytes
    @exclusivity(unchecked) private var version: StoredVersion?

    var size: Int { memory.count }

    /// - Parameter size: of the largest value with its padding.
    init(_ size: Int) throws(LogError) {
        do throws(SealingError) { memory = try SecretBytes(zeroCount: size) } catch { throw LogError(error) }
        box = [UInt8](repeating: 0, count: size + SecretBox.tagSize)
    }

    func holds(_ version: StoredVersion) -> Bool {
        version.boxLength <= box.count
    }

    /// Takes the box of a value.
    func take(_ version: StoredVersion, from view: inout LogView) throws(LogError) {
        self.version = version
        try box.withMutableRawBytes { (box) throws(LogError) in
            try view.copy(version, into: UnsafeMutableRawBufferPointer(rebasing: box[..<version.boxLength]))
        }
    }

    /// Opens the box that was taken.
    func open(with keys: KeyRing) throws(LogError) {
        guard let version else { throw LogError(.invalid) }
        let boxLength = version.boxLength
        do throws(SealingError) {
            try memory.withUnsafeMutablePaddedBytes { (memory) throws(SealingError) in
                try box.withRawBytes { (box) throws(SealingError) in
                    try keys.open(
                        UnsafeRawBufferPointer(rebasing: box[..<boxLength]), for: .value, nonce: version.nonce,
                        into: UnsafeMutableRawBufferPointer(rebasing: memory[..<(boxLength - SecretBox.tagSize)]))
                }
            }
        } catch { throw LogError(opening: version, error) }
    }

    package func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let count = version?.length ?? 0
        return try memory.withUnsafeBytes { (memory) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: memory[..<count]).bytes)
        }
    }

    func wipe() {
        let used = SecretBytes.paddedSize(version?.length ?? 0)
        memory.withUnsafeMutableBytes { Wiping.wipe(UnsafeMutableRawBufferPointer(rebasing: $0[..<used])) }
        version = nil
    }
}

extension SealedLog {
    private static let scratchLimit = 16

    /// Opens the value of a name into guarded memory that goes back with ``putBack(_:)``; nil if it is absent.
    ///
    /// - Throws: as ``open(_:)``.
    package func openInScratch(_ name: String) throws(LogError) -> Scratch? {
        let kept = scratch.withLock { $0.popLast() }
        let memory = if let kept { kept } else { try Scratch(Scratch.size) }
        let found: Scratch?
        do throws(LogError) {
            found = try certain { () throws(LogError) in
                let found = try withValue(name) { (view, version) throws(LogError) in
                    let memory = memory.holds(version) ? memory : try Scratch(version.boxLength)
                    try memory.take(version, from: &view)
                    return memory
                }
                try found?.open(with: keys)
                return found
            }
        } catch {
            putBack(memory)
            throw error
        }
        if found !== memory { putBack(memory) }
        return found
    }

    /// Wipes the memory, and keeps it for the next reader.
    package func putBack(_ memory: Scratch) {
        memory.wipe()
        scratch.withLock { kept in
            // One that was made for a large value is not worth its locked pages.
            if kept.count < SealedLog.scratchLimit, memory.size == Scratch.size { kept.append(memory) }
        }
    }
}
