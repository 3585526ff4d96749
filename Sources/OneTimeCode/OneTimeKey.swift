package import Sealing

/// The secret behind a service's one-time codes, with the algorithm and form of the codes.
package struct OneTimeKey: ~Copyable {
    package enum Algorithm: String, CaseIterable, Sendable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"
    }

    /// The value that changes from code to code. RFC 4226 calls it the moving factor.
    package enum MovingFactor: Hashable, Sendable {
        /// HOTP (RFC 4226), which counts codes. The value is the counter of the next code.
        case counter(UInt64)
        /// TOTP (RFC 6238), which counts periods since 1970. The value is the length of a period in seconds.
        case time(period: UInt64)
    }

    package enum Form: Hashable, Sendable {
        /// A number of 6 to 8 digits, with leading zeros.
        case digits(Int)
        /// A code of five characters from Steam's alphabet.
        case steam
    }

    package let algorithm: Algorithm
    package let movingFactor: MovingFactor
    package let form: Form
    /// The service that issued the key; nil if the parsed text does not name the service.
    package let issuer: String?
    /// The account at the service; nil if the parsed text does not name the account.
    package let account: String?
    package let secret: SecretBytes
    /// The byte range of the counter's digits in the parsed text; nil if there is no counter.
    let counterDigits: Range<Int>?
}

extension OneTimeKey {
    /// Creates a key with the parameters that services assume when they show only a secret.
    init(secret: consuming SecretBytes, form: Form = .digits(6)) {
        self.init(
            algorithm: .sha1, movingFactor: .time(period: 30), form: form, issuer: nil, account: nil, secret: secret,
            counterDigits: nil)
    }
}

/// The reason why a string is unusable for computing one-time codes. The error contains no part of the string.
package enum OneTimeKeyError: Error, Hashable, Sendable {
    /// The text is neither an `otpauth://` URI nor a base32 secret.
    case unrecognized
    /// The text is an export from Google Authenticator: a URI in a different format, with several keys.
    case export
    /// The text is an invalid URI. The detail is a clause, such as `its secret is missing`.
    case malformed(String)
    /// Guarded memory cannot be allocated.
    case outOfMemory
}

/// Methods that compare parts of a URI in place. One part is the secret, which must not be copied.
extension Slice<UnsafeRawBufferPointer> {
    /// Returns whether the bytes equal an ASCII string, ignoring case.
    func isEqual(to text: String) -> Bool { elementsEqual(text.utf8) { $0.lowered == $1.lowered } }

    /// Returns the bytes after a prefix, ignoring the prefix's case; nil if the bytes do not begin with it.
    func dropping(prefix: String) -> Self? {
        self.prefix(prefix.utf8.count).isEqual(to: prefix) ? dropFirst(prefix.utf8.count) : nil
    }
}

extension UInt8 {
    fileprivate var lowered: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}

extension String { var nonempty: String? { isEmpty ? nil : self } }
