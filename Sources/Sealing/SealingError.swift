/// The reason why a cryptographic operation failed. It contains no bytes of a key, plaintext or box.
package struct SealingError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// The process has run out of memory or of memory mappings.
        case outOfMemory
        /// The box cannot be opened, because the key or nonce is wrong or the box was changed.
        case forged
        /// The length of an input or output is invalid for the operation.
        case length
        /// The cost parameters of Argon2id are out of range.
        case limits
    }

    package let code: Code

    package init(_ code: Code) { self.code = code }
}
