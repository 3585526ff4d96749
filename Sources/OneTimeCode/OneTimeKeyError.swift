/// The reason why no one-time codes can be computed from a text. It repeats nothing of the text.
package enum OneTimeKeyError: Error, Hashable, Sendable {
    /// The text is neither an `otpauth://` address nor a secret in base32.
    case unrecognized
    /// The text is an export of Google Authenticator: several keys in one address, in a format of its own.
    case export
    /// The text is an address that breaks a rule. The detail is part of a sentence: `its secret is missing`.
    case malformed(String)
    /// Guarded memory cannot be allocated.
    case outOfMemory
}
