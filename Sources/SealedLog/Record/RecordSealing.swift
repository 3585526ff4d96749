import LinuxSystem
import Sealing

/// A sealed record, ready to be written at its offset.
struct RecordPlan: Sendable {
    let record: Record
    /// The bytes to write at the record's offset. All later bytes of the payload are already in the store.
    let bytes: [UInt8]

    /// The record in the form that a store appends. If it has a tree, the hint lets readers skip all earlier records.
    var stored: StoredRecord {
        let hint = record.index.tree.map { _ in Hint(offset: record.offset, sequence: record.index.sequence) }
        return StoredRecord(
            offset: record.offset, bytes: bytes, end: record.end, previous: record.previous,
            position: record.position, hint: hint)
    }

    /// Seals a record with a complete payload. If the index contains offsets that depend on the index's size,
    /// `indexSize` is that size without the tag, and the index is padded to it.
    init(
        _ index: RecordIndex, payload: [UInt8], at offset: UInt64, indexSize: Int? = nil, keys: KeyRing,
        vaultID: [UInt8]
    ) throws(LogError) {
        var index = index
        index.payloadHash = payload.withUnsafeBytes { RunningHash.hash(of: $0) }
        try self.init(
            index, payloadLength: payload.count, at: offset, indexSize: indexSize, keys: keys, vaultID: vaultID, payload
        )
    }

    /// Seals a record. `payload` is the whole payload, or its first bytes if the rest is already in the store.
    init(
        _ index: RecordIndex, payloadLength: Int, at offset: UInt64, indexSize: Int?, keys: KeyRing,
        vaultID: [UInt8], _ payload: [UInt8]
    ) throws(LogError) {
        var plaintext = index.encoded
        if let indexSize { plaintext += [UInt8](repeating: 0, count: indexSize - plaintext.count) }
        var nonces = NonceSource()
        let nonce = nonces.next()
        let box = try keys.seal(plaintext, for: .record, nonce: nonce)
        let frame = Frame(indexLength: box.count, payloadLength: UInt64(payloadLength))
        var writer = ByteWriter(reserving: Frame.headSize + box.count + payload.count)
        writer.append(try frame.encoded(vaultID: vaultID))
        writer.nonce(nonce)
        writer.append(box)
        writer.append(payload)
        bytes = writer.bytes
        record = Record(
            offset: offset, frame: frame, index: index, authenticator: box.withUnsafeBytes { Authenticator($0) })
    }
}

/// A reader that opens records. A single system call can read many small records at once.
struct RecordReader {
    enum Finding {
        /// There is no record at the offset, only zeros or the end of the file.
        case nothing
        case record(Record)
        /// The frame is invalid or the index cannot be opened, because the record was torn or changed.
        case failing(StaticString)
        /// The index is authentic, but the record breaks the format or is out of place. No writer leaves such a record.
        case foreign(StaticString)
    }

    /// The minimum number of bytes to read at once, equal to the step in which writers extend the file. Reading more at
    /// once would save system calls, but cost more time in page faults.
    static let windowSize = Int(Limits.growth)

    let store: any RecordStore
    let keys: KeyRing
    let vaultID: [UInt8]
    let name: BoundName?
    private(set) var window: [UInt8] = []
    /// The number of bytes at the start of `window` that were read from the store.
    private(set) var windowCount = 0
    private(set) var windowOffset: UInt64 = 0
    /// Whether the bytes in `window` reach the end of the file.
    private(set) var windowIsLast = false

    /// Reads the record at an offset. Unless `previous` is nil, the record must follow that log position.
    mutating func record(at offset: UInt64, after previous: LogPosition?) throws(LogError) -> Finding {
        // Copy the head of the record. While a slice of `window` exists, the next read would copy all of `window`.
        let head = Array(try bytes(at: offset, upTo: Frame.headSize))
        if head.allSatisfy({ $0 == 0 }) { return .nothing }
        guard head.count == Frame.headSize, let frame = head.withUnsafeBytes({ Frame($0, vaultID: vaultID) }) else {
            return .failing("no valid frame")
        }
        let nonce = RecordReader.nonce(inHead: head[...])
        let box = try bytes(at: offset + UInt64(Frame.headSize), upTo: frame.indexLength)
        guard box.count == frame.indexLength else { return .failing("a record is truncated") }
        guard let plaintext = box.withUnsafeBytes({ keys.open($0, for: .record, nonce: nonce) }) else {
            return .failing("a record does not authenticate")
        }
        guard let index = try? RecordIndex(parsing: plaintext), !index.isNotice || frame.payloadLength == 0 else {
            return .foreign("a record breaks the format")
        }
        let record = Record(
            offset: offset, frame: frame, index: index, authenticator: box.withUnsafeBytes { Authenticator($0) })
        // The frame is not sealed. Without this check, anyone who can write the file could change its payload length.
        guard index.namedEnd(ofPayloadAt: record.payload.lowerBound) == record.end else {
            return .foreign("a record's length does not match its index")
        }
        if let previous, (index.sequence, index.previous) != (previous.sequence + 1, previous.authenticator) {
            return .foreign("a record does not match its predecessor")
        }
        if previous != nil, !BoundName.admits(index, under: name) {
            return .foreign("a record belongs to a copy of the vault under another name")
        }
        if let copy = store.machineCopy {
            head.withUnsafeBytes { copy.confirm($0, at: offset) }
            box.withUnsafeBytes { copy.confirm($0, at: offset + UInt64(Frame.headSize)) }
        }
        return .record(record)
    }

    static func nonce(inHead head: ArraySlice<UInt8>) -> Nonce {
        head.withUnsafeBytes { Nonce(UnsafeRawBufferPointer(rebasing: $0[Frame.size...])) }
    }

    func payloadHolds(_ record: Record) throws(LogError) -> Bool {
        var hash = RunningHash()
        var last: [UInt8] = []
        for piece in record.payload.pieces {
            last = try store.available(at: piece.lowerBound, upTo: piece.count)
            guard last.count == piece.count else { return false }
            last.withUnsafeBytes { hash.update($0) }
        }
        guard hash.finish() == record.index.payloadHash else { return false }
        // If the payload was read in pieces, `last` is only the final one. Each value is then confirmed when opened.
        if last.count == Int(record.frame.payloadLength) {
            last.withUnsafeBytes { store.machineCopy?.confirm($0, at: record.payload.lowerBound) }
        }
        return true
    }

    /// Returns `count` bytes of the file, reading them if `window` lacks them. Returns fewer only at the file's end.
    mutating func bytes(at offset: UInt64, upTo count: Int) throws(LogError) -> ArraySlice<UInt8> {
        let windowEnd = windowOffset + UInt64(windowCount)
        if offset < windowOffset || (offset + UInt64(count) > windowEnd && !(windowIsLast && offset <= windowEnd)) {
            let wanted = max(count, RecordReader.windowSize)
            if window.count < wanted {
                // The buffer stays uninitialized, because filling it would touch memory that the read may not need.
                window = [UInt8](unsafeUninitializedCapacity: wanted) { $1 = wanted }
            }
            windowCount = 0
            windowCount = try window.withMutableRawBytes { (window) throws(LogError) in
                try store.read(into: UnsafeMutableRawBufferPointer(rebasing: window[..<wanted]), at: offset)
            }
            windowOffset = offset
            // Once this reader has reached the end of the file, only a new reader finds records appended later.
            windowIsLast = windowCount < wanted
        }
        let start = Int(offset - windowOffset)
        return window[start..<min(start + count, windowCount)]
    }
}

/// A sealed value that has been read from a store or has not been written yet.
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
    /// Returns the BLAKE2b-256 hash of an opened value without its padding.
    func hash(ofValue value: UnsafeRawBufferPointer) throws(SealingError) -> [UInt8] {
        try KeyedHash.hash(UnsafeRawBufferPointer(rebasing: value[..<length]))
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
    /// Opens a value's box into `memory`, which must be large enough, and passes the value and its padding to `body`.
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
