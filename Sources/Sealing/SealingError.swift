/// The reason why a cryptographic operation failed. It contains no bytes of any key, text or box.
package struct SealingError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// The process has used up its memory or its number of mappings.
        case outOfMemory
        /// The box does not open: the key or the nonce is wrong, or bytes were changed.
        case forged
        /// An input or output has a length that the operation does not accept.
        case length
        /// The limits of Argon2id are out of bounds.
        case limits
    }

    package let code: Code

    package init(_ code: Code) { self.code = code }
}
