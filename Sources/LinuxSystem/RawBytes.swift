// The standard library's `withUnsafeBytes` of arrays forgets the type of the error that its closure throws.
//
// These and the other ways to bytes are inlinable: called as generics across the border of a module, each would look
// its types up at run time.

extension ArraySlice<UInt8> {
    @inlinable
    package func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.bytes.withUnsafeBytes(body)
    }
}

extension [UInt8] {
    @inlinable
    package func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.bytes.withUnsafeBytes(body)
    }

    @inlinable
    package mutating func withMutableRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var span = mutableSpan
        return try span.withUnsafeMutableBytes(body)
    }
}
