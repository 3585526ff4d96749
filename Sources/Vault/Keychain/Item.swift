public import FoundationEssentials

/// What a keychain tells of a name without opening its value.
public struct Item: Hashable, Sendable {
    /// The name, as it was set.
    public let name: String
    /// The value's size in bytes.
    public let size: Int
    /// What the value is: its type, as far as that was said.
    public let kind: ValueKind
    /// When the name was first set since it was last absent.
    public let created: Date
    /// When the value was last set.
    public let modified: Date
    /// Words about the value, sealed with its name: `service`, `account`, `url` …
    public let attributes: [String: String]
}

/// What a value is, as far as whoever stored it has said.
public struct ValueKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bytes of which nothing was said: what the command stores.
    public static let unspecified = ValueKind(rawValue: 0)
    /// UTF-8.
    public static let text = ValueKind(rawValue: 1)
    /// Bytes that were stored as such.
    public static let data = ValueKind(rawValue: 2)

    public var description: String {
        switch self {
        case .unspecified: "unspecified"
        case .text: "text"
        case .data: "data"
        default: "kind \(rawValue)"
        }
    }
}
