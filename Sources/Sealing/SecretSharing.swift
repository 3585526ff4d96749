/// A secret that is split into shares. Any `threshold` shares restore the secret. Fewer shares reveal only its length,
/// even to an attacker with unlimited computing power.
///
/// The scheme is Shamir's ("How to share a secret", Communications of the ACM 22 (11), 1979) over ``ByteField/aes``,
/// applied to each byte separately. Each byte of the secret is the value at 0 of a polynomial whose other coefficients
/// are random. Share *i* consists of the polynomials' values at *i*.
///
/// If a share has been changed, `join` returns a wrong secret without an error. So include a digest in the secret.
package struct SecretSharing: ~Copyable {
    /// The possible numbers of shares. The field would allow 255, but people lose track of more than 32.
    package static let counts = 2...32

    /// Returns whether a secret can be split with these parameters. With threshold 1, each share would be the secret.
    package static func isPossible(count: Int, threshold: Int) -> Bool {
        counts.contains(count) && (2...count).contains(threshold)
    }

    package let count: Int
    package let threshold: Int
    private let size: Int
    /// The secret's bytes, which are the constant coefficients, followed by the coefficients of each higher power of x.
    private let coefficients: SecretBytes

    /// Splits a secret. Throws ``SealingError/Code/outOfMemory``, or ``SealingError/Code/length`` if the secret is
    /// empty or ``isPossible(count:threshold:)`` is false.
    package init(_ secret: borrowing SecretBytes, count: Int, threshold: Int) throws(SealingError) {
        // All coefficients are drawn from all 256 values, even for the highest power. If its coefficient could not be
        // zero, `threshold - 1` shares would rule out one value for each byte of the secret.
        try self.init(secret, count: count, threshold: threshold) { RandomBytes.fill($0) }
    }

    /// Splits a secret. `fill` writes the coefficients of the powers 1 to `threshold - 1`, so that tests can set them.
    init(
        _ secret: borrowing SecretBytes, count: Int, threshold: Int, fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(SealingError) {
        guard SecretSharing.isPossible(count: count, threshold: threshold), secret.count > 0 else {
            throw SealingError(.length)
        }
        let size = secret.count
        let (total, overflow) = size.multipliedReportingOverflow(by: threshold)
        guard !overflow else { throw SealingError(.length) }
        var coefficients = try SecretBytes(zeros: total, isKey: true)
        coefficients.withUnsafeMutableBytes { coefficients in
            secret.withUnsafeBytes { coefficients.copyMemory(from: $0) }
            fill(UnsafeMutableRawBufferPointer(rebasing: coefficients[size...]))
        }
        self.count = count
        self.threshold = threshold
        self.size = size
        self.coefficients = coefficients
    }

    /// Computes the share with this index, which has the secret's size. Throws ``SealingError/Code/length`` unless the
    /// index is in `1...count` (the share at 0 would be the secret), or ``SealingError/Code/outOfMemory``.
    package borrowing func share(at index: Int) throws(SealingError) -> SecretBytes {
        guard let x = UInt8(exactly: index), (1...count).contains(index) else { throw SealingError(.length) }
        var share = try SecretBytes(zeros: size, isKey: true)
        try share.withUnsafeMutableBytes { (share) throws(SealingError) in
            try coefficients.withUnsafeBytes { (coefficients) throws(SealingError) in
                try Wiping.leavingNoTraces(orThrow: .length) {
                    // Horner's rule multiplies by x and adds the next coefficient, from the highest power down.
                    for power in (0..<threshold).reversed() {
                        for offset in 0..<size {
                            share[offset] =
                                ByteField.aes.product(share[offset], x) ^ coefficients[power * size + offset]
                        }
                    }
                    return 0
                }
            }
        }
        return share
    }

    /// Restores a secret from at least as many shares as its threshold.
    ///
    /// - Parameters:
    ///   - shares: the bytes of the shares, one after the other.
    ///   - indices: the shares' indices, in the same order.
    /// - Throws: ``SealingError/Code/length`` if there is no share, if the shares differ in length, or if the indices
    ///   are not distinct and in `1...255`; ``SealingError/Code/outOfMemory`` if memory runs out.
    package static func join(_ shares: borrowing SecretBytes, at indices: [Int]) throws(SealingError) -> SecretBytes {
        let points = indices.compactMap { UInt8(exactly: $0) }
        guard !points.isEmpty, points.count == indices.count, Set(points).count == points.count, !points.contains(0),
            shares.count > 0, shares.count.isMultiple(of: points.count)
        else { throw SealingError(.length) }
        let size = shares.count / points.count
        var secret = try SecretBytes(zeros: size, isKey: true)
        try secret.withUnsafeMutableBytes { (secret) throws(SealingError) in
            try shares.withUnsafeBytes { (shares) throws(SealingError) in
                try Wiping.leavingNoTraces(orThrow: .length) {
                    for (position, weight) in weights(of: points).enumerated() {
                        for offset in 0..<size {
                            secret[offset] ^= ByteField.aes.product(shares[position * size + offset], weight)
                        }
                    }
                    return 0
                }
            }
        }
        return secret
    }

    /// Returns the shares' weights in the secret, which is a polynomial's value at 0. By Lagrange's formula, a weight
    /// is the product of `other / (other - point)` over all other points. In this field, subtraction equals addition.
    private static func weights(of points: [UInt8]) -> [UInt8] {
        points.map { point in
            points.reduce(1) { weight, other in
                guard other != point else { return weight }
                let quotient = ByteField.aes.product(other, ByteField.aes.inverse(other ^ point))
                return ByteField.aes.product(weight, quotient)
            }
        }
    }
}
