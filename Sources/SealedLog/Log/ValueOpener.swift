import LinuxSystem
import Sealing

/// Opens values one after the other, into one piece of guarded memory.
struct ValueOpener: ~Copyable {
    private let store: any RecordStore
    private let keys: KeyRing
    private var memory: SecretBytes

    init(of store: any RecordStore, keys: KeyRing) throws(LogError) {
        self.store = store
        self.keys = keys
        do throws(SealingError) { memory = try SecretBytes(zeroCount: 4_096) } catch { throw LogError(error) }
    }

    /// Opens a value and gives it to `body` with its padding.
    ///
    /// - Throws: `damaged` if it does not open, or if its padding is none; `unavailable`, `outOfMemory`; what `body`
    ///   throws.
    mutating func open(
        _ version: StoredVersion, _ body: (UnsafeRawBufferPointer) throws(SealingError) -> Void = { _ in }
    ) throws(LogError) {
        let box = try store.bytes(at: version.offset, count: version.boxLength)
        let size = version.boxLength - SecretBox.tagSize
        do throws(SealingError) {
            if memory.paddedCapacity < size { memory = try SecretBytes(zeroCount: size) }
            try memory.withUnsafeMutablePaddedBytes { (memory) throws(SealingError) in
                let value = UnsafeMutableRawBufferPointer(rebasing: memory[..<size])
                try box.withRawBytes { (box) throws(SealingError) in
                    try keys.open(box, for: .value, nonce: version.nonce, into: value)
                }
                guard value[version.length...].allSatisfy({ $0 == 0 }) else { throw SealingError(.forged) }
                try body(UnsafeRawBufferPointer(value))
            }
        } catch { throw LogError(opening: version, error) }
    }
}
