/// The reason why a cryptographic operation failed. It contains no bytes of any key, text or box.
package struct SealingError: Error, Hashable, Sendable {
    /// The kind of failure. More kinds may come.
    package struct Code: Hashable, Sendable {
        private enum Kind { case outOfMemory, forged, length, limits }
        private let kind: Kind

        /// The process has used up its memory or its number of mappings.
        package static let outOfMemory = Code(kind: .outOfMemory)
        /// The box does not open: the key or the nonce is wrong, or bytes were changed.
        package static let forged = Code(kind: .forged)
        /// An input or output has a length that the operation does not accept.
        package static let length = Code(kind: .length)
        /// The limits of Argon2id are out of bounds.
        package static let limits = Code(kind: .limits)
    }

    /// The kind of this failure.
    package let code: Code

    package init(_ code: Code) { self.code = code }
}
