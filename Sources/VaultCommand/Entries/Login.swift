import Vault

/// The parts of one login.
///
/// The password is the value of the login's entry. What is not secret (user name, address) is an attribute of it. A
/// further secret is a *field*: an entry of its own, whose name is that of the login, a dot and the field:
/// `mail/work.otp`.
enum Login {
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
        /// Which commands may read the value: see ``ReadingPolicy``.
        static let policy = "policy"
    }

    /// Returns the name of the entry that has a login's field.
    static func name(of field: String, in login: String) -> String { "\(login).\(field)" }

    static func name(of field: Field, in login: String) -> String { name(of: field.rawValue, in: login) }

    /// Returns the name of the entry that has a login's field; nil if that is too long for an entry.
    static func entryName(of field: String, in login: String) -> String? {
        let name = name(of: field, in: login)
        return (try? Naming.name.check(name)).map { name }
    }

    /// Splits the name of a field at its last dot; nil if there is none, or nothing before or after it.
    static func split(_ name: String) -> (login: String, field: String)? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        let field = name[name.utf8.index(after: dot)...]
        return field.isEmpty || field.contains("/") ? nil : (String(name[..<dot]), String(field))
    }
}
