// The standard library's `withUnsafeBytes` of arrays loses its closure's error type. These functions are inlinable,
// like those for the bytes of secrets in Sealing, because a generic function of another module would look up types at
// run time.

extension ArraySlice<UInt8> {
    @inlinable
    package func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try span.bytes.withUnsafeBytes(body) }
}

extension [UInt8] {
    @inlinable
    package func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try span.bytes.withUnsafeBytes(body) }

    @inlinable
    package mutating func withMutableRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var span = mutableSpan
        return try span.withUnsafeMutableBytes(body)
    }
}
