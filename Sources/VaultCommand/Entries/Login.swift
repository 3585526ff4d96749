import Vault

extension Login {
    /// The fields that commands, helpers and imports know; people may add others.
    enum Field: String, CaseIterable {
        /// What one-time codes are computed from: an `otpauth://` address.
        case otp
        case notes
        case refreshToken = "refresh-token"
    }

    /// The attributes that commands, helpers and imports know.
    enum AttributeKey {
        static let username = "username"
        static let url = "url"
    }

    static func name(of field: Field, in login: String) -> String { name(of: field.rawValue, in: login) }

    /// Returns the name of the entry that has a login's field; nil if that is too long for an entry.
    static func entryName(of field: String, in login: String) -> String? {
        let name = name(of: field, in: login)
        return (try? Naming.name.check(name)).map { name }
    }
}
