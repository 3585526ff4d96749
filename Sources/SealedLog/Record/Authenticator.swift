/// The 16 bytes that stand for a record, or for a header, and for all the history before it.
package struct Authenticator: Hashable, Sendable {
    static let size = 16

    private let low: UInt64
    private let high: UInt64

    /// - Precondition: at least 16 bytes; the first 16 count.
    init(_ bytes: UnsafeRawBufferPointer) {
        low = bytes.loadUnaligned(as: UInt64.self)
        high = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: (low, high), body)
    }
}

/// A point in the history: the sequence number of a record or header, and its authenticator.
package struct LogPosition: Hashable, Sendable {
    package let sequence: UInt64
    package let authenticator: Authenticator
}

extension ByteReader {
    mutating func authenticator() throws(Malformed) -> Authenticator {
        try withBytes(Authenticator.size) { Authenticator($0) }
    }
}

extension ByteWriter {
    mutating func authenticator(_ authenticator: Authenticator) {
        authenticator.withUnsafeBytes { append($0) }
    }
}
