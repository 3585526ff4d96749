extension SecretBytes {
    /// Allocates `count` zero bytes in guarded memory.
    ///
    /// - Throws: ``VaultError`` with `unavailable` if no guarded memory is left, `invalid` if `count` is negative.
    public init(zeroCount count: Int) throws(VaultError) {
        guard count >= 0 else { throw VaultError(.invalid, "Invalid size for a secret: \(count) bytes.") }
        do { try self.init(zeros: count) } catch { throw .noGuardedMemory }
    }

    /// Copies a string's UTF-8 bytes into guarded memory. The string itself is not wiped.
    ///
    /// - Throws: ``VaultError`` with `unavailable` if there is no guarded memory left.
    public init(utf8 text: String) throws(VaultError) {
        try self.init(zeroCount: text.utf8.count)
        withUnsafeMutableBytes { $0.copyBytes(from: text.utf8) }
    }

    /// Copies bytes into guarded memory, without wiping the original. Throws the same errors as ``init(utf8:)``.
    public init(copying bytes: RawSpan) throws(VaultError) {
        do {
            self = try bytes.withUnsafeBytes { (bytes) throws(SealingError) in try SecretBytes(copyOf: bytes) }
        } catch { throw .noGuardedMemory }
    }

    /// Copies bytes into guarded memory, without wiping the array. Throws the same errors as ``init(utf8:)``.
    public init(copying bytes: [UInt8]) throws(VaultError) {
        do { try self.init(copyOf: bytes) } catch { throw .noGuardedMemory }
    }

    /// Allocates guarded memory, lets `body` fill it, and keeps only the first bytes, as many as `body` returns.
    ///
    /// - Throws: the errors of ``init(zeroCount:)`` and of `body`.
    public init(
        unsafeCapacity capacity: Int, initializingWith body: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        var filled = try SecretBytes(zeroCount: capacity)
        let used = try filled.withUnsafeMutableBytes(body)
        filled.truncate(to: used)
        self = filled
    }
}

extension VaultError {
    package static let noGuardedMemory = VaultError(
        .unavailable, "There is no guarded memory left for keys and values.")
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are valid UTF-8. The check makes no copy.
    package var isUTF8: Bool { (try? UTF8Span(validating: assumingMemoryBound(to: UInt8.self).span)) != nil }
}
