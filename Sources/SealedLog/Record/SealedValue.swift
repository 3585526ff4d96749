import LinuxSystem
import Sealing

/// A sealed value that was read from a store or has not been written to one yet.
package struct SealedValue: Sendable {
    let version: StoredVersion
    let box: ArraySlice<UInt8>
    let keys: KeyRing
    /// The store that the value was read from; nil if the value has not been written yet.
    var store: (any RecordStore)?
}

extension SealedValue {
    init(_ value: borrowing SecretBytes, kind: UInt8, nonce: Nonce, under keys: KeyRing) throws(LogError) {
        let version = StoredVersion(kind: kind, nonce: nonce, offset: 0, length: value.count)
        var box = [UInt8](repeating: 0, count: version.boxLength)
        try value.withPaddedBytes { (value) throws(LogError) in
            try box.withMutableRawBytes { (box) throws(LogError) in
                try translated(keys.seal(value, for: .value, nonce: nonce, into: box))
            }
        }
        self.init(version: version, box: box[...], keys: keys)
    }

    func resealed(under keys: KeyRing, nonce: Nonce) throws(LogError) -> SealedValue {
        try SealedValue(opened(), kind: version.kind, nonce: nonce, under: keys)
    }
}

extension StoredVersion {
    /// Returns the BLAKE2b-256 of an opened value without its padding.
    func hash(ofValue value: UnsafeRawBufferPointer) throws(SealingError) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: KeyedHash.size)
        try hash.withMutableRawBytes { (hash) throws(SealingError) in
            try KeyedHash.hash(UnsafeRawBufferPointer(rebasing: value[..<length]), into: hash)
        }
        return hash
    }
}

extension SealedValue {
    func opened() throws(LogError) -> SecretBytes {
        var value = try translated(SecretBytes(zeros: version.length))
        try box.withRawBytes { (box) throws(LogError) in
            try keys.open(box, version, into: &value)
            store?.machineCopy?.confirm(box, at: version.offset)
        }
        return value
    }

    func hash() throws(LogError) -> [UInt8] {
        let value = try opened()
        return try value.withUnsafeBytes { (value) throws(LogError) in try translated(version.hash(ofValue: value)) }
    }
}

extension KeyRing {
    /// Opens a value's box into guarded memory of the value's size, and passes the value and its padding to `body`.
    @inline(__always)
    func open(
        _ box: UnsafeRawBufferPointer, _ version: StoredVersion, into memory: inout SecretBytes,
        _ body: (UnsafeRawBufferPointer) throws(SealingError) -> Void = { _ in }
    ) throws(LogError) {
        do throws(SealingError) {
            try memory.withUnsafeMutablePaddedBytes { (memory) throws(SealingError) in
                let value = UnsafeMutableRawBufferPointer(rebasing: memory[..<(version.boxLength - SecretBox.tagSize)])
                try open(box, for: .value, nonce: version.nonce, into: value)
                try body(UnsafeRawBufferPointer(value))
            }
        } catch { throw error.code == .forged ? LogError.damaged("a value", at: version.offset) : LogError(error) }
    }
}
