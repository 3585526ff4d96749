import LinuxSystem
import Sealing

/// A buffer in guarded memory, in which many values of a store are opened one after the other.
struct ValueOpener: ~Copyable {
    private let store: any RecordStore
    private let keys: KeyRing
    private var memory: SecretBytes
    /// The initial size in bytes of ``memory``, which grows to fit the largest value.
    private static let usualSize = 4_096

    init(of store: any RecordStore, keys: KeyRing) throws(LogError) {
        self.store = store
        self.keys = keys
        memory = try translated(SecretBytes(zeros: ValueOpener.usualSize))
    }

    /// Opens a value and passes it to `body` with its padding, which must consist of zeros. Returns the value's box.
    @discardableResult
    mutating func open(
        _ version: StoredVersion, _ body: (UnsafeRawBufferPointer) throws(SealingError) -> Void = { _ in }
    ) throws(LogError) -> [UInt8] {
        let store = store
        return try store.rereading { () throws(LogError) in
            let box = try store.bytes(at: version.offset, count: version.boxLength)
            try open(box[...], version, body)
            return box
        }
    }

    mutating func open(
        _ box: ArraySlice<UInt8>, _ version: StoredVersion,
        _ body: (UnsafeRawBufferPointer) throws(SealingError) -> Void = { _ in }
    ) throws(LogError) {
        let size = version.boxLength - SecretBox.tagSize
        if memory.paddedCapacity < size { memory = try translated(SecretBytes(zeros: size)) }
        try box.withRawBytes { (box) throws(LogError) in
            try keys.open(box, version, into: &memory) { (value) throws(SealingError) in
                guard value[version.length...].allSatisfy({ $0 == 0 }) else { throw SealingError(.forged) }
                try body(value)
            }
            store.machineCopy?.confirm(box, at: version.offset)
        }
    }
}

/// A filter that keeps damaged bytes in this machine's copy of a database from being written to the database.
struct BoxRepair: ~Copyable {
    private let store: any RecordStore
    private var values: ValueOpener

    /// Creates the filter; returns nil if this machine has no copy of the store.
    init?(of store: any RecordStore, keys: KeyRing) throws(LogError) {
        guard store.machineCopy != nil else { return nil }
        self.store = store
        values = try ValueOpener(of: store, keys: keys)
    }

    /// If a value's box in `bytes` cannot be opened, replaces it with the database's box. Leaves every other box alone,
    /// since the database's box may be the damaged one.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that were read from the store, including the whole box.
    ///   - start: the offset of these bytes in the store.
    mutating func repair(_ version: StoredVersion, in bytes: inout [UInt8], from start: UInt64) throws(LogError) {
        let range = Int(version.box.lowerBound - start)..<Int(version.box.upperBound - start)
        do throws(LogError) { return try values.open(bytes[range], version) } catch {
            guard error.code == .damaged else { throw error }
        }
        do throws(LogError) { bytes.replaceSubrange(range, with: try values.open(version)) } catch {
            // If the database's box is damaged too, the damaged bytes are kept. If this were an error, a single damaged
            // box would prevent all key changes.
            guard error.code == .damaged else { throw error }
        }
    }
}

/// Reseals values under different keys. See Format.md, "Rotation".
struct ValueResealer: ~Copyable {
    private let store: any RecordStore
    private var values: ValueOpener
    private let keys: KeyRing

    init(of store: any RecordStore, from old: KeyRing, to new: KeyRing) throws(LogError) {
        values = try ValueOpener(of: store, keys: old)
        self.store = store
        keys = new
    }

    /// Reseals a value. Returns the new box, and a version with the new nonce but the old offset. Throws `damaged`.
    mutating func reseal(_ old: StoredVersion) throws(LogError) -> (version: StoredVersion, box: [UInt8]) {
        var version = old
        var box = [UInt8](repeating: 0, count: old.boxLength)
        let keys = keys
        try values.open(old) { (value) throws(SealingError) in
            version.nonce = try keys.nonce(resealing: old.nonce, ofValue: old.hash(ofValue: value))
            try box.withMutableRawBytes { (box) throws(SealingError) in
                try keys.seal(value, for: .value, nonce: version.nonce, into: box)
            }
        }
        return (version, box)
    }

    /// Reseals a value, or copies its box unchanged if the box cannot be opened. If that were an error, a person with
    /// access could insert an unreadable box to prevent the rotation that would end this access.
    mutating func resealOrCopy(
        _ old: StoredVersion
    ) throws(LogError) -> (version: StoredVersion, box: [UInt8], opens: Bool) {
        do throws(LogError) {
            let sealed = try reseal(old)
            return (sealed.version, sealed.box, true)
        } catch {
            guard error.code == .damaged else { throw error }
            return (old, try store.bytes(at: old.offset, count: old.boxLength), false)
        }
    }
}
