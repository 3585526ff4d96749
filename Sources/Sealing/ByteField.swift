/// A field of 256 elements, which are bytes: the polynomials over the field of two elements, modulo an irreducible
/// polynomial of degree 8. The sum of two elements is their exclusive or.
///
/// The operations take the same time for all bytes. Tables of logarithms would be faster, but which of their cache
/// lines are read depends on the bytes, and those are secret here.
package struct ByteField: Sendable {
    /// Below x⁸, the terms of the polynomial that products are reduced by.
    private let reduction: UInt8

    /// The field of AES: x⁸ + x⁴ + x³ + x + 1, 0x11B (FIPS 197, section 4.2).
    package static let aes = ByteField(reduction: 0x1B)

    /// The field of QR codes: x⁸ + x⁴ + x³ + x² + 1, 0x11D (ISO/IEC 18004:2015, section 7.5.2).
    package static let qrCode = ByteField(reduction: 0x1D)

    /// Multiplies bit by bit, with masks in place of branches.
    package func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var (left, right, product) = (left, right, 0 as UInt8)
        for _ in 0..<8 {
            product ^= left & (0 &- (right & 1))
            left = (left << 1) ^ (reduction & (0 &- (left >> 7)))
            right >>= 1
        }
        return product
    }

    /// Returns the element whose product with this one is 1; for zero, zero.
    package func inverse(_ element: UInt8) -> UInt8 {
        // The 254th power, since the 255th of each element but zero is 1. 254 is 2 + 4 + 8 + … + 128.
        var (power, inverse) = (element, 1 as UInt8)
        for _ in 1..<8 {
            power = product(power, power)
            inverse = product(inverse, power)
        }
        return inverse
    }
}
