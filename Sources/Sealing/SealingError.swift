/// Why a cryptographic operation failed. It contains no bytes of any key, text or box.
public struct SealingError: Error, Hashable, Sendable {
    /// The kind of failure. More kinds may come.
    public struct Code: Hashable, Sendable {
        private enum Kind { case outOfMemory, forged, length, limits }
        private let kind: Kind

        /// The process has used up its memory or its number of mappings.
        public static let outOfMemory = Code(kind: .outOfMemory)
        /// The box does not open: another key, another nonce, or changed bytes.
        public static let forged = Code(kind: .forged)
        /// An input or output has a length that the operation does not accept.
        public static let length = Code(kind: .length)
        /// Limits of Argon2id that are out of bounds.
        public static let limits = Code(kind: .limits)
    }

    /// The kind of this failure.
    public let code: Code

    package init(_ code: Code) { self.code = code }
}
