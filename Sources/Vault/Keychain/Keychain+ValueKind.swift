extension Keychain {
    /// The type of a value in the keychain, as far as it was given when the value was stored.
    public struct ValueKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The number that stands for it in the file.
        public let rawValue: UInt8

        /// Creates the kind of a number; a later version may know more of them.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ kind: StoredKind) { rawValue = kind.rawValue }

        /// Bytes without a type, as the command stores them.
        public static let unspecified = ValueKind(.unspecified)
        /// UTF-8.
        public static let text = ValueKind(.text)
        /// Bytes that were stored as such.
        public static let data = ValueKind(.data)
        /// A truth value.
        public static let boolean = ValueKind(.boolean)
        /// An integer.
        public static let integer = ValueKind(.integer)
        /// A floating-point number.
        public static let real = ValueKind(.real)
        /// A point in time.
        public static let date = ValueKind(.date)
        /// Values in their order.
        public static let array = ValueKind(.array)
        /// Values by name, such as the fields of a Codable type.
        public static let dictionary = ValueKind(.dictionary)
        /// The absence of a value, of an optional that is stored as such.
        public static let null = ValueKind(.null)

        /// The name of the kind, such as `text`; `kind 17` for one that this version does not know.
        public var description: String {
            StoredKind(rawValue: rawValue).map { String(describing: $0) } ?? "kind \(rawValue)"
        }
    }
}
