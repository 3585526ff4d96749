extension Keychain {
    /// The type of a value, as far as it was given when the value was stored; a later version may know more of them.
    package struct ValueKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The number that stands for it in the file.
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ kind: StoredKind) { rawValue = kind.rawValue }

        /// Bytes without a type, as the command stores them without `--type`.
        package static let unspecified = ValueKind(.unspecified)
        package static let text = ValueKind(.text)
        package static let data = ValueKind(.data)
        package static let boolean = ValueKind(.boolean)
        package static let integer = ValueKind(.integer)
        package static let real = ValueKind(.real)
        package static let date = ValueKind(.date)
        package static let array = ValueKind(.array)
        package static let dictionary = ValueKind(.dictionary)
        package static let null = ValueKind(.null)

        /// The name of the kind, such as `text`; `kind 17` for one that this version does not know.
        package var description: String {
            StoredKind(rawValue: rawValue).map { String(describing: $0) } ?? "kind \(rawValue)"
        }
    }
}
