private import CSodium

/// Hex digits of secrets, without tables or branches that would tell the digits through the time they take.
package enum Hexadecimal {
    /// Writes two lower-case digits for each byte.
    ///
    /// - Throws: ``SealingError/Code/length`` unless there is room for just these digits.
    package static func encode(
        _ bytes: UnsafeRawBufferPointer, into digits: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard digits.count == bytes.count * 2 else { throw SealingError(.length) }
        for (index, byte) in bytes.enumerated() {
            digits[index * 2] = digit(byte >> 4)
            digits[index * 2 + 1] = digit(byte & 15)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        // 39 more from ten on: the distance between "9" + 1 and "a". The borrow of the subtraction makes the mask.
        let isLetter = UInt8(truncatingIfNeeded: (Int(9) - Int(value)) >> 8)
        return 48 + value + (39 & isLetter)
    }

    /// Reads two digits of either case for each byte; false if there is anything else.
    package static func decode(
        _ digits: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard digits.count == bytes.count * 2 else { return false }
        var count = 0
        let status = digits.pointer.withMemoryRebound(to: CChar.self, capacity: digits.count) {
            sodium_hex2bin(bytes.pointer, bytes.count, $0, digits.count, nil, &count, nil)
        }
        return status == 0 && count == bytes.count
    }
}
