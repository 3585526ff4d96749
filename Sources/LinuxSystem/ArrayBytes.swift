// Unlike the standard library's `withUnsafeBytes`, these functions preserve their closure's error type. They are
// inlinable, like Sealing's functions, because a generic function of another module looks up types at run time.

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
