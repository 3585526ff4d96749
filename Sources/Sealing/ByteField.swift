/// A field of 256 elements, which are bytes: the polynomials over the field of two elements, modulo an irreducible
/// polynomial of degree 8. Addition is the exclusive or.
///
/// The operations take the same time for all bytes. Tables of logarithms would be faster, but the cache lines that they
/// read would depend on the bytes, which are secret here.
package struct ByteField: Sendable {
    /// The terms below x⁸ of the polynomial by which products are reduced.
    private let reduction: UInt8

    /// The field of AES: x⁸ + x⁴ + x³ + x + 1, 0x11B (FIPS 197, section 4.2).
    package static let aes = ByteField(reduction: 0x1B)

    /// The field of QR codes: x⁸ + x⁴ + x³ + x² + 1, 0x11D (ISO/IEC 18004:2015, section 7.5.2).
    package static let qrCode = ByteField(reduction: 0x1D)

    /// Multiplies bit by bit, with masks in place of branches.
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

    /// Returns the element whose product with this one is 1; zero for zero.
    package func inverse(_ element: UInt8) -> UInt8 {
        // The inverse is the 254th power, since the 255th power of each element except zero is 1. 254 is 2 + 4 + 8 + …
        // + 128.
        var power = element
        var inverse: UInt8 = 1
        for _ in 1..<8 {
            power = product(power, power)
            inverse = product(inverse, power)
        }
        return inverse
    }
}
