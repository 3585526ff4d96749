import SealedLog
import Sealing

/// What the database says of a vault: which generation of its bytes counts, and what its log ends with.
struct StoreHead: Hashable {
    let generation: UInt64
    let position: LogPosition
    /// Of the log, in bytes.
    let size: UInt64
    let hint: Hint?

    /// nil if there is no such vault.
    init?(_ rows: Rows) throws(PostgresError) {
        guard rows.count > 0 else { return nil }
        generation = try rows.number(0, 0)
        let authenticator = try rows.bytes(0, 2)
        guard authenticator.count == Authenticator.size else { throw .malformed("an authenticator") }
        position = LogPosition(
            sequence: try rows.number(0, 1), authenticator: authenticator.withUnsafeBytes { Authenticator($0) })
        size = try rows.number(0, 3)
        let hintOffset = try rows.optionalNumber(0, 4)
        let hintSequence = try rows.optionalNumber(0, 5)
        if let hintOffset, let hintSequence {
            hint = Hint(offset: hintOffset, sequence: hintSequence)
        } else {
            hint = nil
        }
    }

    init(generation: UInt64, position: LogPosition, size: UInt64, hint: Hint?) {
        (self.generation, self.position, self.size, self.hint) = (generation, position, size, hint)
    }
}

/// Neighbouring bytes of a store.
struct StoreBytes {
    let offset: UInt64
    let bytes: [UInt8]

    var end: UInt64 { offset + UInt64(bytes.count) }
    var range: Range<UInt64> { offset..<end }

    /// Joins the bytes of rows; see ``Rows/pieces(from:_:)``.
    init(_ rows: Rows, from offset: UInt64) throws(PostgresError) {
        var bytes: [UInt8] = []
        if rows.count > 1 { bytes.reserveCapacity(rows.size(ofColumn: 1)) }
        _ = try rows.pieces(from: offset, upTo: .max) { _, piece in bytes += piece }
        (self.offset, self.bytes) = (offset, bytes)
    }

    init(offset: UInt64, bytes: [UInt8] = []) { (self.offset, self.bytes) = (offset, bytes) }

    /// Returns whether it has all of a range; then copies it.
    func copy(_ range: Range<UInt64>, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard range.lowerBound >= offset, range.upperBound <= end else { return false }
        withBytes(of: range) { buffer.copyMemory(from: $0) }
        return true
    }

    /// - Parameter range: of which it has all.
    func withBytes<Result>(of range: Range<UInt64>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = Int(range.lowerBound - offset)
        return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + range.count])) }
    }
}

extension Rows {
    /// Passes the bytes of rows of an offset and bytes, in ascending order, as far as one follows the other. Returns
    /// where they end.
    ///
    /// - Parameter limit: where they end at the latest. More than was asked for is no answer, and is not passed on.
    func pieces(
        from offset: UInt64, upTo limit: UInt64,
        _ body: (_ offset: UInt64, _ bytes: UnsafeRawBufferPointer) -> Void
    ) throws(PostgresError) -> UInt64 {
        var end = offset
        for row in 0..<count {
            guard try number(row, 0) == end else { break }
            guard let bytes = value(row, 1) else { throw .malformed("a value") }
            guard UInt64(bytes.count) <= limit - end else {
                throw PostgresError(.malformed, "the server's answer is longer than what was asked for")
            }
            body(end, bytes)
            end += UInt64(bytes.count)
        }
        return end
    }
}
