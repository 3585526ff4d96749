private import CSodium

/// Base64 (RFC 4648) for secrets. The time taken depends only on their length.
package enum Base64 {
    /// Whether `=` characters pad the text to a multiple of four characters.
    package enum Padding { case none, equalSigns }

    /// Returns the number of digits, without padding, that encode `count` bytes.
    @inlinable package static func digits(of count: Int) -> Int { count / 3 * 4 + (count % 3 * 4 + 2) / 3 }

    /// Returns the number of bytes that unpadded digits encode; nil if no valid text has that many digits.
    @inlinable package static func size(ofDigits digits: Int) -> Int? {
        digits >= 0 && digits % 4 != 1 ? digits / 4 * 3 + digits % 4 * 3 / 4 : nil
    }

    /// Writes the digits of `bytes` without padding, followed by a zero byte. Throws ``SealingError/Code/length`` if
    /// `text` does not have exactly the required size.
    package static func encode(
        _ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard text.count == digits(of: bytes.count) + 1 else { throw SealingError(.length) }
        _ = text.pointer.withMemoryRebound(to: CChar.self, capacity: text.count) {
            sodium_bin2base64($0, text.count, bytes.pointer, bytes.count, sodium_base64_VARIANT_ORIGINAL_NO_PADDING)
        }
    }

    /// Decodes base64. Returns false if the text does not encode exactly `bytes.count` bytes or is not canonical.
    /// Canonical text contains only digits and padding, and its unused last bits are zero.
    package static func decode(
        _ text: UnsafeRawBufferPointer, padding: Padding = .none, into bytes: UnsafeMutableRawBufferPointer
    ) -> Bool {
        // libsodium 1.0.18 accepts some bytes above 0x7F as digits if `char` is signed, so they are rejected here.
        guard text.reduce(0, |) < 0x80 else { return false }
        let variant = padding == .none ? sodium_base64_VARIANT_ORIGINAL_NO_PADDING : sodium_base64_VARIANT_ORIGINAL
        var count = 0
        let status = text.pointer.withMemoryRebound(to: CChar.self, capacity: text.count) {
            sodium_base642bin(bytes.pointer, bytes.count, $0, text.count, nil, &count, nil, variant)
        }
        return status == 0 && count == bytes.count
    }
}
