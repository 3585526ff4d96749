/// Why a cryptographic operation did not come about.
///
/// Carries no bytes of any key, text or box.
public struct SealingError: Error, Hashable, Sendable {
    /// The kind of failure. More kinds may come.
    public struct Code: Hashable, Sendable {
        private enum Kind { case outOfMemory, forged, length, limits }
        private let kind: Kind

        /// There is no guarded memory to be had: memory or the number of mappings of this process is used up.
        public static let outOfMemory = Code(kind: .outOfMemory)
        /// The box does not open: another key, another nonce, or changed bytes.
        public static let forged = Code(kind: .forged)
        /// An input or output has a length that the operation does not take.
        public static let length = Code(kind: .length)
        /// Limits of Argon2id that are out of bounds.
        public static let limits = Code(kind: .limits)
    }

    /// What to decide by.
    public let code: Code

    package init(_ code: Code) {
        self.code = code
    }
}
