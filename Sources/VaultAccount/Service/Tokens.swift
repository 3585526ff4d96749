public import FoundationEssentials
public import Vault

/// What a server takes as proof of a login. Its textual form shows nothing of it.
public struct Tokens: Hashable, Sendable {
    /// Sent with each request.
    public var access: String
    /// Gets new tokens; nil if the server has no such thing.
    public var refresh: String?
    /// When the access token ends; nil if the server does not say.
    public var expires: Date?

    /// Tokens as the server gave them.
    public init(access: String, refresh: String? = nil, expires: Date? = nil) {
        self.access = access
        self.refresh = refresh
        self.expires = expires
    }

    func isExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }
}

extension Tokens: StoredAsCodable {}

extension Tokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "Tokens(…)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
