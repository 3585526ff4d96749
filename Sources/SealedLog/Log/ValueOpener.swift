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

    /// Opens a value and passes it to `body` with its padding, which must be zeros. Returns its box.
    @discardableResult
    mutating func open(
        _ version: StoredVersion, _ body: (UnsafeRawBufferPointer) throws(SealingError) -> Void = { _ in }
    ) throws(LogError) -> [UInt8] {
        let box = try store.bytes(at: version.offset, count: version.boxLength)
        let size = version.boxLength - SecretBox.tagSize
        if memory.paddedCapacity < size { memory = try translated(SecretBytes(zeros: size)) }
        try box.withRawBytes { (box) throws(LogError) in
            try keys.open(box, version, into: &memory) { (value) throws(SealingError) in
                guard value[version.length...].allSatisfy({ $0 == 0 }) else { throw SealingError(.forged) }
                try body(value)
            }
        }
        return box
    }
}

/// Opens values, and seals them anew under other keys; Format.md, "Rotation".
struct ValueResealer: ~Copyable {
    private var values: ValueOpener
    private let keys: KeyRing?

    /// - Parameter new: nil if the values stay under the old keys, in the boxes that they have.
    init(of store: any RecordStore, from old: KeyRing, to new: KeyRing?) throws(LogError) {
        values = try ValueOpener(of: store, keys: old)
        keys = new
    }

    /// Opens a value and seals it anew. Returns its version, with the old offset, and its box. Throws `damaged` if it
    /// does not open.
    mutating func reseal(_ old: StoredVersion) throws(LogError) -> (version: StoredVersion, box: [UInt8]) {
        guard let keys else { return (old, try values.open(old)) }
        var version = old
        version.nonce = try keys.nonce(resealing: old.nonce)
        let nonce = version.nonce
        var box = [UInt8](repeating: 0, count: old.boxLength)
        try values.open(old) { (value) throws(SealingError) in
            try box.withMutableRawBytes { (box) throws(SealingError) in
                try keys.seal(value, for: .value, nonce: nonce, into: box)
            }
        }
        return (version, box)
    }
}
