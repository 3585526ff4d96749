import Vault

extension Login {
    /// The fields that commands, helpers and imports use. Users may add others.
    enum Field: String, CaseIterable {
        /// The `otpauth://` URI from which one-time codes are computed.
        case otp
        case notes
        case refreshToken = "refresh-token"
    }

    /// The keys of the attributes that commands, helpers and imports use.
    enum AttributeKey {
        static let username = "username"
        static let url = "url"
    }

    static func name(of field: Field, in login: String) -> String { name(of: field.rawValue, in: login) }

    /// Returns the name of the entry for a login's field, or nil if that name would be too long.
    static func entryName(of field: String, in login: String) -> String? {
        let name = name(of: field, in: login)
        return (try? Naming.name.check(name)).map { name }
    }
}
