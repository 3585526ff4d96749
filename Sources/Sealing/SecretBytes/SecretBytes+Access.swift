private import CSodium

extension SecretBytes {
    /// Reads the secret in place.
    ///
    /// The span cannot leave the closure; copying out of it leaves guarded memory.
    @inlinable
    public borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes { (bytes) throws(Failure) in try body(bytes.bytes) }
    }

    /// Reads the secret through a pointer, for C functions. The pointer is valid only inside the closure.
    @inlinable
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let count = count
        return try withPaddedBytes { (padded) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: padded[..<count]))
        }
    }

    /// Writes the secret in place. The pointer is valid only inside the closure.
    @inlinable
    public mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let count = count
        return try withUnsafeMutablePaddedBytes { (padded) throws(Failure) in
            try body(UnsafeMutableRawBufferPointer(rebasing: padded[..<count]))
        }
    }

    /// Whether two secrets are the same, in a time that depends on their lengths alone.
    public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        // Equal counts mean equal capacities, and the padding of both is zero.
        return withPaddedBytes { left in
            other.withPaddedBytes { right in
                sodium_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
            }
        }
    }
}
