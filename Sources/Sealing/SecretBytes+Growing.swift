extension SecretBytes {
    /// Reads an input of unknown length into guarded memory. Each time the memory is full, its size is doubled plus 16
    /// bytes. Therefore an input whose length is a power of two ends before the memory is full.
    ///
    /// - Parameters:
    ///   - capacity: the expected number of bytes, at least 1.
    ///   - limit: the maximum number of bytes to read.
    ///   - isKey: as in ``init(zeros:isKey:)``.
    ///   - failure: converts an allocation error.
    ///   - read: receives the memory and the number of bytes used, and may change both; returns whether the input has
    ///     ended.
    /// - Returns: the input; nil if it has not ended after `limit` bytes.
    package static func growing<Failure: Error>(
        from capacity: Int, to limit: Int, isKey: Bool = false, orThrow failure: (SealingError) -> Failure,
        _ read: (_ memory: UnsafeMutableRawBufferPointer, _ used: inout Int) throws(Failure) -> Bool
    ) throws(Failure) -> SecretBytes? {
        var held = try zeros(min(capacity, limit), isKey, failure)
        var used = 0
        var hasEnded = false
        while true {
            try held.withUnsafeMutableBytes { (memory) throws(Failure) in
                while used < memory.count, !hasEnded { hasEnded = try read(memory, &used) }
            }
            if hasEnded {
                held.truncate(to: used)
                return held
            }
            guard held.count < limit else { return nil }
            var larger = try zeros(min(held.count * 2 + 16, limit), isKey, failure)
            larger.withUnsafeMutableBytes { larger in held.withUnsafeBytes { larger.copyMemory(from: $0) } }
            held = larger
        }
    }

    private static func zeros<Failure: Error>(
        _ count: Int, _ isKey: Bool, _ failure: (SealingError) -> Failure
    ) throws(Failure) -> SecretBytes {
        do throws(SealingError) { return try SecretBytes(zeros: count, isKey: isKey) } catch { throw failure(error) }
    }
}
