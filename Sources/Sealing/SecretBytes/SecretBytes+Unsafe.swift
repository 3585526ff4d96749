// Ways between guarded and ordinary memory. What lies in ordinary memory is not wiped, may be swapped out, and may
// show up in a core dump; a String or an Array can be copied by anyone who holds it.

extension SecretBytes {
    /// Copies bytes into guarded memory. The original stays where it is.
    ///
    /// - Throws: ``SealingError/Code/outOfMemory``.
    public init(copying bytes: UnsafeRawBufferPointer) throws(SealingError) {
        try self.init(zeroCount: bytes.count)
        withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    }

    /// Copies bytes into guarded memory. The array stays as it is.
    ///
    /// - Throws: ``SealingError/Code/outOfMemory``.
    public init(copying bytes: [UInt8]) throws(SealingError) {
        try self.init(zeroCount: bytes.count)
        withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
    }

    /// Copies a text's UTF-8 into guarded memory. The string stays as it is.
    ///
    /// - Throws: ``SealingError/Code/outOfMemory``.
    public init(utf8 text: String) throws(SealingError) {
        try self.init(zeroCount: text.utf8.count)
        withUnsafeMutableBytes { $0.copyBytes(from: text.utf8) }
    }

    /// Lets `body` fill guarded memory, and keeps as many bytes as it says it has written.
    ///
    /// - Throws: ``SealingError/Code/outOfMemory``, or what `body` throws.
    public init(
        unsafeCapacity capacity: Int,
        initializingWith body: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        var filled = try SecretBytes(zeroCount: capacity)
        let used = try filled.withUnsafeMutableBytes(body)
        filled.truncate(to: used)
        self = filled
    }

    /// A copy in ordinary memory, which nobody wipes.
    public borrowing func unsafeArray() -> [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// The secret as text in ordinary memory, which nobody wipes; nil if it is not UTF-8.
    public borrowing func unsafeString() -> String? {
        withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }
}
