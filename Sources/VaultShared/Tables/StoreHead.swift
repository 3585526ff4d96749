import SealedFormat
import Sealing

/// The contents of a vault's row in the database: the current generation, the end of its log, and a hint.
///
/// The row is not authenticated. The recorded end is therefore compared with the log
/// (``PostgresRecordStore/statedEnd``). A wrong hint only costs time.
struct StoreHead: Hashable {
    /// The current generation, bit for bit even if malformed, so that different generations never compare as equal.
    let generation: UInt64
    let position: LogPosition
    let size: UInt64
    let hint: Hint?
    /// Whether the row contains invalid values, such as a negative size. If so, the log is treated as empty.
    let isMalformed: Bool

    /// Parses the vault's row. Returns nil if `rows` is empty.
    init?(_ rows: Rows) throws(PostgresError) {
        guard rows.count > 0 else { return nil }
        generation = try rows.bits(0, 0)
        let authenticator = try rows.bytes(0, 2)
        let sequence = try rows.bits(0, 1)
        let size = try rows.bits(0, 3)
        let isValid =
            [generation, sequence, size].allSatisfy { $0 < 1 << 62 } && authenticator.count == Authenticator.size
        isMalformed = !isValid
        position =
            isValid
            ? LogPosition(sequence: sequence, authenticator: authenticator.withUnsafeBytes { Authenticator($0) })
            : LogPosition(sequence: 0, authenticator: .zero)
        self.size = isValid ? size : 0
        let hintBits = try [rows.optionalBits(0, 4), rows.optionalBits(0, 5)].compactMap(\.self)
        hint =
            hintBits.count == 2 && hintBits.allSatisfy { $0 < 1 << 63 }
            ? Hint(offset: hintBits[0], sequence: hintBits[1]) : nil
    }

    init(generation: UInt64, position: LogPosition, size: UInt64, hint: Hint?) {
        self.generation = generation
        self.position = position
        self.size = size
        self.hint = hint
        isMalformed = false
    }

    /// Returns whether `other` describes the same state of the vault. Hints are ignored.
    func isAlike(_ other: StoreHead) -> Bool {
        generation == other.generation && position == other.position && size == other.size
            && isMalformed == other.isMalformed
    }
}

/// A contiguous range of a store's bytes, and the offset at which it starts.
struct StoreBytes {
    let offset: UInt64
    let bytes: [UInt8]

    var end: UInt64 { offset + UInt64(bytes.count) }
    var range: Range<UInt64> { offset..<end }

    /// Concatenates the bytes of rows; see ``Rows/pieces(from:upTo:_:)``.
    init(_ rows: Rows, from offset: UInt64) throws(PostgresError) {
        var bytes: [UInt8] = []
        if rows.count > 1 { bytes.reserveCapacity(rows.size(ofColumn: 1)) }
        _ = try rows.pieces(from: offset, upTo: .max) { _, piece in bytes += piece }
        self.offset = offset
        self.bytes = bytes
    }

    init(offset: UInt64, bytes: [UInt8] = []) {
        self.offset = offset
        self.bytes = bytes
    }

    /// Copies a range into `buffer`. Returns false if these bytes do not include the whole range.
    func copy(_ range: Range<UInt64>, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard range.lowerBound >= offset, range.upperBound <= end else { return false }
        withBytes(of: range) { buffer.copyMemory(from: $0) }
        return true
    }

    /// - Parameter range: a range of offsets in the store. It must lie within the range of these bytes.
    func withBytes<Result>(of range: Range<UInt64>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = Int(range.lowerBound - offset)
        return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + range.count])) }
    }
}

extension Rows {
    /// Passes the bytes of each row to `body`, and returns the offset after the last of them. A row consists of an
    /// offset and bytes. Stops at the first row that does not start where the previous one ends.
    ///
    /// - Parameter limit: the maximum returned offset. If the server sends more bytes, the method throws `malformed`.
    func pieces(
        from offset: UInt64, upTo limit: UInt64, _ body: (_ offset: UInt64, _ bytes: UnsafeRawBufferPointer) -> Void
    ) throws(PostgresError) -> UInt64 {
        var end = offset
        for row in 0..<count {
            guard try number(row, 0) == end else { break }
            guard let bytes = value(row, 1) else { throw .malformed("a value") }
            guard UInt64(bytes.count) <= limit - end else {
                throw PostgresError(.malformed, "the server's answer is longer than requested")
            }
            body(end, bytes)
            end += UInt64(bytes.count)
        }
        return end
    }
}
