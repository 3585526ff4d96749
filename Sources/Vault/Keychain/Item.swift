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
