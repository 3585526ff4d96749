/// The names of a login and its fields, as the `vault` command uses them.
///
/// The password is the value of the login's entry. Data that is not secret (user name, address) is in its attributes.
/// Any other secret is a *field*, a separate entry whose name is the login's name, a dot and the field's name, such as
/// `mail/work.otp`.
package enum Login {
    /// The attribute that specifies which commands may read the values of a login and its fields. See
    /// ``Keychain/Options/keepsPolicies``.
    package static let policyKey = "policy"

    package static func name(of field: String, in login: String) -> String { "\(login).\(field)" }

    /// Splits the name of a field at its last dot; returns nil if it is not the name of a field.
    package static func split(_ name: String) -> (login: String, field: String)? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        let field = name[name.utf8.index(after: dot)...]
        return field.isEmpty || field.utf8.contains(UInt8(ascii: "/")) ? nil : (String(name[..<dot]), String(field))
    }
}
