package import Sealing

/// What one-time codes are computed from: the secret that a service has shared, and how its codes look.
package struct OneTimeKey: ~Copyable {
    package enum Algorithm: String, CaseIterable, Sendable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"
    }

    /// What makes each code another one (RFC 4226 calls it so).
    package enum MovingFactor: Hashable, Sendable {
        /// Counts codes: HOTP (RFC 4226). It is the counter of the next code.
        case counter(UInt64)
        /// Counts periods since 1970, each of so many seconds: TOTP (RFC 6238).
        case time(period: UInt64)
    }

    package enum Form: Hashable, Sendable {
        /// A number of 6 to 8 digits, with zeros in front.
        case digits(Int)
        /// Five letters and digits of an alphabet of Steam's own.
        case steam
    }

    package let algorithm: Algorithm
    package let movingFactor: MovingFactor
    package let form: Form
    /// Who gave the key, if the address says so.
    package let issuer: String?
    /// Whose key it is, if the address says so.
    package let account: String?
    package let secret: SecretBytes
    /// Where the counter is in the text that was read, if it has one.
    let counterDigits: Range<Int>?
}

extension OneTimeKey {
    /// Those of a secret alone: what services mean that show no address.
    init(secret: consuming SecretBytes, form: Form = .digits(6)) {
        self.init(
            algorithm: .sha1, movingFactor: .time(period: 30), form: form, issuer: nil, account: nil, secret: secret,
            counterDigits: nil)
    }
}
