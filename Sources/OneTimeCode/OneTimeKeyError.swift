/// Why one-time codes cannot be computed from a text. It repeats nothing of the text.
package enum OneTimeKeyError: Error, Hashable, Sendable {
    /// It is neither an `otpauth://` address nor a secret in base32.
    case unrecognized
    /// It is what Google Authenticator exports: several keys in one address, in a format of its own.
    case export
    /// It is an address that breaks a rule; the detail is a part of a sentence: `its secret is missing`.
    case malformed(String)
    /// Guarded memory cannot be allocated.
    case outOfMemory
}
