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
        let store = store
        return try store.rereading { () throws(LogError) in
            let box = try store.bytes(at: version.offset, count: version.boxLength)
            try open(box[...], version, body)
            return box
        }
    }

    /// Does the same with a box that was read.
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

/// Keeps damage in a machine's copy of a database out of the database.
struct BoxRepair: ~Copyable {
    private let store: any RecordStore
    private var values: ValueOpener

    /// nil if the store is read from where it is.
    init?(of store: any RecordStore, keys: KeyRing) throws(LogError) {
        guard store.machineCopy != nil else { return nil }
        self.store = store
        values = try ValueOpener(of: store, keys: keys)
    }

    /// Reads the box of a value from the database if it does not open. Other boxes beside it may be damaged there, and
    /// stay as they were read.
    ///
    /// - Parameters:
    ///   - bytes: what was read of the store, with the whole box.
    ///   - start: their offset.
    mutating func repair(
        _ version: StoredVersion, in bytes: inout [UInt8], from start: UInt64
    ) throws(LogError) {
        let range = Int(version.box.lowerBound - start)..<Int(version.box.upperBound - start)
        do throws(LogError) { return try values.open(bytes[range], version) } catch {
            guard error.code == .damaged else { throw error }
        }
        do throws(LogError) { bytes.replaceSubrange(range, with: try values.open(version)) } catch {
            // What is damaged in the database too is copied as it is, as in a file: the keys can still be changed.
            guard error.code == .damaged else { throw error }
        }
    }
}

/// Seals values anew, under other keys; Format.md, "Rotation".
struct ValueResealer: ~Copyable {
    private let store: any RecordStore
    private var values: ValueOpener
    private let keys: KeyRing

    init(of store: any RecordStore, from old: KeyRing, to new: KeyRing) throws(LogError) {
        values = try ValueOpener(of: store, keys: old)
        (self.store, keys) = (store, new)
    }

    /// Opens a value and seals it anew. Returns its version, with the old offset, and its box. Throws `damaged` if it
    /// does not open.
    mutating func reseal(_ old: StoredVersion) throws(LogError) -> (version: StoredVersion, box: [UInt8]) {
        var (version, box) = (old, [UInt8](repeating: 0, count: old.boxLength))
        let keys = keys
        try values.open(old) { (value) throws(SealingError) in
            version.nonce = try keys.nonce(resealing: old.nonce, ofValue: old.hash(ofValue: value))
            try box.withMutableRawBytes { (box) throws(SealingError) in
                try keys.seal(value, for: .value, nonce: version.nonce, into: box)
            }
        }
        return (version, box)
    }
    /// Does the same, but copies a value that does not open as it is: else whoever was let in could plant one, and keep
    /// a rotation from shutting him out.
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
