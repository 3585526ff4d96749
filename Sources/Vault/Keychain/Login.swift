/// The names of one login, as the `vault` command uses them.
///
/// The password is the value of the login's entry. What is not secret (user name, address) is an attribute of it. A
/// further secret is a *field*: an entry of its own, whose name is that of the login, a dot and the field:
/// `mail/work.otp`.
package enum Login {
    /// The attribute that says which commands may read the value of a login and its fields. See
    /// ``Keychain/Options/keepsPolicies``.
    package static let policyKey = "policy"

    package static func name(of field: String, in login: String) -> String { "\(login).\(field)" }

    /// Splits the name of a field at its last dot; nil if there is none, or nothing before or after it.
    package static func split(_ name: String) -> (login: String, field: String)? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        let field = name[name.utf8.index(after: dot)...]
        return field.isEmpty || field.utf8.contains(UInt8(ascii: "/")) ? nil : (String(name[..<dot]), String(field))
    }
}
