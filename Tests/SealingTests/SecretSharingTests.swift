import TestSupport
import Testing

@testable import Sealing

@Suite("Sharing a secret")
struct SecretSharingTests {
    private struct Vector: Decodable {
        let secret, coefficients: HexBytes
        let threshold: Int
        let shares: [HexBytes]
    }

    private func split(
        _ secret: [UInt8], _ threshold: Int, of count: Int, coefficients: [UInt8]? = nil
    ) throws -> [[UInt8]] {
        let secret = try SecretBytes(copyOf: secret)
        func all(of sharing: borrowing SecretSharing) throws -> [[UInt8]] {
            try (1...count).map { try sharing.share(at: $0).unsafeArray() }
        }
        guard let coefficients else {
            return try all(of: SecretSharing(secret, count: count, threshold: threshold))
        }
        return try all(
            of: SecretSharing(secret, count: count, threshold: threshold) { $0.copyBytes(from: coefficients) })
    }

    private func join(_ shares: [[UInt8]], at indices: [Int]) throws -> [UInt8] {
        try SecretSharing.join(SecretBytes(copyOf: Array(shares.joined())), at: indices).unsafeArray()
    }

    /// Every choice of elements, each in ascending order.
    private func choices(_ count: Int, of elements: [Int]) -> [[Int]] {
        guard count > 0 else { return [[]] }
        return elements.indices.flatMap { index in
            choices(count - 1, of: Array(elements[(index + 1)...])).map { [elements[index]] + $0 }
        }
    }

    @Test func givesTheSharesOfTheOtherImplementation() throws {
        for vector in try knownAnswers("shamir") as [Vector] {
            let secret = vector.secret.bytes
            let shares = vector.shares.map(\.bytes)
            let ours = try split(
                secret, vector.threshold, of: shares.count, coefficients: vector.coefficients.bytes)
            #expect(ours == shares)
            #expect(
                try join(
                    Array(shares.suffix(vector.threshold)), at: shares.indices.suffix(vector.threshold).map { $0 + 1 })
                    == secret)
        }
    }

    @Test func isRestoredByAnySharesThatAreEnough() throws {
        for count in 2...7 {
            for threshold in 2...count {
                let secret = RandomBytes.array(5)
                let shares = try split(secret, threshold, of: count)
                for size in threshold...count {
                    for indices in choices(size, of: Array(1...count)) {
                        let given = indices.map { shares[$0 - 1] }
                        #expect(try join(given, at: indices) == secret)
                        #expect(try join(given.reversed(), at: indices.reversed()) == secret)
                    }
                }
            }
        }
    }

    @Test func isRestoredAtTheLargestNumbers() throws {
        let secret = RandomBytes.array(5_000)
        let shares = try split(secret, 32, of: 32)
        #expect(try join(shares, at: Array(1...32)) == secret)
        #expect(try join(Array(shares.dropLast()), at: Array(1...31)) != secret)
    }

    /// For every secret there are coefficients that give the same shares, and as many for each: one.
    @Test(arguments: [[1, 2], [1, 3], [2, 3]]) func isNotToldByFewerShares(_ indices: [Int]) throws {
        let shares = try split([0x2A], 3, of: 3)
        let seen = indices.map { shares[$0 - 1][0] }
        for secret in UInt8.min...UInt8.max {
            // The value at 0 and the two shares determine the third, and thereby the polynomial.
            let points = [0] + indices.map { UInt8($0) }
            let missing = UInt8(6 - indices.reduce(0, +))
            let third = value(at: missing, through: Array(zip(points, [secret] + seen)))
            var given = [UInt8](repeating: 0, count: 3)
            for (index, share) in zip(indices, seen) { given[index - 1] = share }
            given[Int(missing) - 1] = third
            #expect(try join(given.map { [$0] }, at: [1, 2, 3]) == [secret])
        }
    }

    @Test func hasAShareOfEveryValueForEverySecret() throws {
        for secret in [0, 1, 0x2A, 0xFF] as [UInt8] {
            for index in 1...2 {
                let values = try (UInt8.min...UInt8.max).map {
                    try split([secret], 2, of: 2, coefficients: [$0])[index - 1][0]
                }
                // Each once, also the secret itself: then the coefficient is zero.
                #expect(values.sorted() == Array(UInt8.min...UInt8.max))
            }
        }
    }

    @Test func isAnotherIfAnyBitOfAShareWasChanged() throws {
        let secret = RandomBytes.array(4)
        let shares = try Array(split(secret, 3, of: 5)[..<3])
        for (share, bit) in (0..<3).flatMap({ share in (0..<32).map { (share, $0) } }) {
            var changed = shares
            changed[share][bit / 8] ^= 1 << UInt8(bit % 8)
            let joined = try join(changed, at: [1, 2, 3])
            #expect(joined.indices.filter { joined[$0] != secret[$0] } == [bit / 8])
        }
        #expect(try join(shares, at: [1, 2, 4]) != secret)
    }

    @Test func isSharedAnewEachTime() throws {
        let secret = RandomBytes.array(16)
        let one = try split(secret, 2, of: 3)
        let other = try split(secret, 2, of: 3)
        for (one, other) in zip(one, other) { #expect(one != other && one != secret) }
    }

    @Test func isRefusedOutOfBounds() throws {
        for (count, threshold) in [(1, 1), (2, 1), (2, 0), (3, 4), (33, 2), (0, 0), (-1, -1), (5, -2)] {
            #expect(!SecretSharing.isPossible(count: count, threshold: threshold))
            #expect(throws: SealingError(.length)) { _ = try split([1], threshold, of: count) }
        }
        #expect(throws: SealingError(.length)) { _ = try split([], 2, of: 3) }
        for index in [.min, -1, 0, 4, 255, 256, .max] {
            let sharing = try SecretSharing(SecretBytes(copyOf: [1]), count: 3, threshold: 2)
            #expect(throws: SealingError(.length)) { _ = try sharing.share(at: index) }
        }
        for indices in [[], [0, 1], [1, 1], [1, 256], [1, -1], [1, 2, 3]] {
            #expect(throws: SealingError(.length)) { _ = try join([[1, 2], [3, 4]], at: indices) }
        }
        #expect(throws: SealingError(.length)) { _ = try join([], at: [1, 2]) }
    }

    /// Lagrange's formula, in terms of the field alone.
    private func value(at x: UInt8, through points: [(UInt8, UInt8)]) -> UInt8 {
        let field = ByteField.aes
        return points.reduce(0) { sum, point in
            sum
                ^ points.reduce(point.1) { term, other in
                    guard other.0 != point.0 else { return term }
                    return field.product(term, field.product(x ^ other.0, field.inverse(point.0 ^ other.0)))
                }
        }
    }
}

@Suite("Fields of bytes")
struct ByteFieldTests {
    private let all = UInt8.min...UInt8.max

    /// The product of two polynomials, and the remainder of its division.
    private func longProduct(_ left: UInt8, _ right: UInt8, modulo polynomial: Int) -> UInt8 {
        var product = (0..<8).reduce(0) { $0 ^ (Int(right) >> $1 & 1) * (Int(left) << $1) }
        for bit in (8...14).reversed() where product >> bit & 1 == 1 { product ^= polynomial << (bit - 8) }
        return UInt8(product)
    }

    @Test func multiplyAsPolynomials() {
        for (field, polynomial) in [(ByteField.aes, 0x11B), (.qrCode, 0x11D)] {
            for left in all {
                let products = all.map { field.product(left, $0) }
                #expect(products == all.map { longProduct(left, $0, modulo: polynomial) })
            }
        }
    }

    @Test func giveTheProductsAndInversesOfFIPS197() {
        // Sections 4.2 and 4.2.1.
        #expect(ByteField.aes.product(0x57, 0x83) == 0xC1)
        #expect(ByteField.aes.product(0x57, 0x13) == 0xFE)
        #expect(ByteField.aes.inverse(0x53) == 0xCA)
    }

    @Test func haveAnInverseOfEachElementButZero() {
        for field in [ByteField.aes, .qrCode] {
            for element in all.dropFirst() { #expect(field.product(element, field.inverse(element)) == 1) }
            #expect(field.inverse(0) == 0)
        }
    }
}
