import Formats
import SealedFormat
import Vault

// Functions shared by the helpers for other programs.

extension Invocation {
    func held(_ name: String, from keychain: Keychain, action: String? = nil) throws -> HeldSecret? {
        guard let value = try reading(name, from: keychain, action: action) else { return nil }
        return HeldSecret(value.takeBytes())
    }

    /// Returns the value of a login's field, or nil if the login has no such field.
    func held(field: String, of login: String, from keychain: Keychain) throws -> HeldSecret? {
        guard let name = Login.entryName(of: field, in: login), let value = try readingEntry(name, from: keychain)
        else { return nil }
        return HeldSecret(value.takeBytes())
    }
}

extension [String: String] {
    /// Returns whether `other` contains the same attributes, compared bytewise.
    func isSame(as other: [String: String]?) -> Bool {
        func attributes(_ pairs: [String: String]) -> Set<Attribute> {
            Set(pairs.map { Attribute(key: $0.key, value: $0.value) })
        }
        return other.map { attributes($0) == attributes(self) } ?? false
    }
}

extension Keychain {
    /// Returns a name that has no entry, and no entry for its `field` either. If `proposed` is taken, appends a number,
    /// as in `git/github.com/mia~2`.
    func freeName(like proposed: String, withField field: Login.Field? = nil) throws(VaultError) -> String {
        var name = proposed
        var number = 1
        while try isTaken(name, field) {
            number += 1
            name = "\(proposed)~\(number)"
        }
        return name
    }

    private func isTaken(_ name: String, _ field: Login.Field?) throws(VaultError) -> Bool {
        if try exists(name) { return true }
        guard let field else { return false }
        return try exists(Login.name(of: field, in: name))
    }
}

extension Keychain.Transaction {
    /// Returns whether the entry `name` has the value `secret`. The time this takes depends only on the lengths.
    mutating func has(_ secret: HeldSecret, under name: String) throws(VaultError) -> Bool {
        guard let value = try get(name) else { return false }
        return value.isEqual(to: secret.bytes)
    }
}
