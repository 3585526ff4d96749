/// The finite field GF(2⁸), whose elements are bytes. Each byte represents a polynomial over GF(2). Products are
/// reduced modulo an irreducible polynomial of degree 8. Addition is exclusive or.
///
/// The operations take constant time. Logarithm tables would be faster, but the cache line that a lookup reads would
/// depend on the secret byte.
package struct ByteField: Sendable {
    /// The irreducible polynomial modulo which products are reduced, without its term x⁸.
    private let reduction: UInt8

    /// The field of AES, whose polynomial is x⁸ + x⁴ + x³ + x + 1, or 0x11B (FIPS 197, section 4.2).
    package static let aes = ByteField(reduction: 0x1B)

    /// The field of QR codes, whose polynomial is x⁸ + x⁴ + x³ + x² + 1, or 0x11D (ISO/IEC 18004:2015, section 7.5.2).
    package static let qrCode = ByteField(reduction: 0x1D)

    /// Returns the product of two elements. Computes it bit by bit, with masks instead of branches.
    package func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var left = left
        var right = right
        var product: UInt8 = 0
        for _ in 0..<8 {
            product ^= left & (0 &- (right & 1))
            left = (left << 1) ^ (reduction & (0 &- (left >> 7)))
            right >>= 1
        }
        return product
    }

    /// Returns the multiplicative inverse of `element`; 0 if `element` is 0.
    package func inverse(_ element: UInt8) -> UInt8 {
        // The 255th power of each nonzero element is 1, so the inverse is the 254th power. 254 is 2 + 4 + 8 + … + 128.
        var power = element
        var inverse: UInt8 = 1
        for _ in 1..<8 {
            power = product(power, power)
            inverse = product(inverse, power)
        }
        return inverse
    }
}
