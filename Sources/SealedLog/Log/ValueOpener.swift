import LinuxSystem
import Sealing

/// Opens many values of a store, one after the other, into one piece of guarded memory.
struct ValueOpener: ~Copyable {
    private let store: any RecordStore
    private let keys: KeyRing
    private var memory: SecretBytes
    /// The memory grows with the largest value.
    private static let usualSize = 4_096

    init(of store: any RecordStore, keys: KeyRing) throws(LogError) {
        (self.store, self.keys) = (store, keys)
        memory = try translated(SecretBytes(zeros: ValueOpener.usualSize))
    }

    /// Opens a value and passes it to `body` with its padding, which must be zeros.
    mutating func open(
        _ version: StoredVersion, _ body: (UnsafeRawBufferPointer) throws(SealingError) -> Void = { _ in }
    ) throws(LogError) {
        let box = try store.bytes(at: version.offset, count: version.boxLength)
        let size = version.boxLength - SecretBox.tagSize
        if memory.paddedCapacity < size { memory = try translated(SecretBytes(zeros: size)) }
        try box.withRawBytes { (box) throws(LogError) in
            try keys.open(box, version, into: &memory) { (value) throws(SealingError) in
                guard value[version.length...].allSatisfy({ $0 == 0 }) else { throw SealingError(.forged) }
                try body(value)
            }
        }
    }
}
