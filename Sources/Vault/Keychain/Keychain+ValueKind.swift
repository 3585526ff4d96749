extension Keychain {
    /// The type of a value, if one was specified when the value was stored. Later versions may add types.
    package struct ValueKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The number of the type in the file format.
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ kind: StoredKind) { rawValue = kind.rawValue }

        /// Bytes without a type, which the command stores unless `--type` is used.
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

        /// The name of the kind, such as `text`, or `kind 17` for a kind that this version does not know.
        package var description: String {
            StoredKind(rawValue: rawValue).map { String(describing: $0) } ?? "kind \(rawValue)"
        }
    }
}
