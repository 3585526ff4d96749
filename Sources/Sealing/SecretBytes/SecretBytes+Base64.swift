private import CSodium

extension SecretBytes {
    /// Creates the base64 digits of bytes, with padding, without tables or branches that would tell the digits through
    /// the time they take.
    package init(base64Of bytes: UnsafeRawBufferPointer) throws(SealingError) {
        let size = sodium_base64_encoded_len(bytes.count, sodium_base64_VARIANT_ORIGINAL)
        try self.init(zeroCount: size)
        withUnsafeMutableBytes { digits in
            digits.pointer.withMemoryRebound(to: CChar.self, capacity: size) {
                _ = sodium_bin2base64($0, size, bytes.pointer, bytes.count, sodium_base64_VARIANT_ORIGINAL)
            }
        }
        // libsodium ends its text with a zero byte.
        truncate(to: size - 1)
    }
}
